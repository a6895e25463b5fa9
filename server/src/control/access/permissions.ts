/** The table is part of the contract, because the console shows only what a role may do. */
export {
  isAllowed,
  isAtMost,
  type Permission,
  PERMISSION_NAMES,
  PERMISSIONS,
  ROLE_NAMES,
  type RoleName,
} from '@millrace/contract/permissions';
