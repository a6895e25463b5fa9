{{- define "millrace.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "millrace.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* The NATS servers with the user of a role. Kubernetes puts the password in. */}}
{{- define "millrace.natsUrl" -}}
{{- $scheme := ternary "tls" "nats" .root.Values.nats.tls.enabled -}}
{{- $user := ternary (printf "%s:$(NATS_PASSWORD)@" .role) "" (eq .root.Values.nats.auth.method "password") -}}
{{- $urls := list -}}
{{- range .root.Values.nats.servers -}}{{- $urls = append $urls (printf "%s://%s%s" $scheme $user .) -}}{{- end -}}
{{- join "," $urls -}}
{{- end -}}

{{- define "millrace.env" -}}
{{- $root := .root -}}
{{- $nats := $root.Values.nats -}}
- { name: MILLRACE_ROLES, value: {{ .role }} }
{{- if include "millrace.secretFiles" . }}
- { name: MILLRACE_SECRETS_DIR, value: /run/secrets/millrace }
{{- end }}
{{- if eq $nats.auth.method "password" }}
- name: NATS_PASSWORD
  valueFrom: { secretKeyRef: { name: {{ include "millrace.natsSecret" $root }}, key: NATS_PASSWORD_{{ upper .role }} } }
{{- end }}
- { name: MILLRACE_NATS_URL, value: {{ include "millrace.natsUrl" . | quote }} }
{{- if eq $nats.auth.method "nkey" }}
- { name: MILLRACE_NATS_NKEY_FILE, value: /run/secrets/nats/{{ .role }}.nk }
{{- else if eq $nats.auth.method "creds" }}
- { name: MILLRACE_NATS_CREDS_FILE, value: /run/secrets/nats/{{ .role }}.creds }
{{- end }}
{{- if $nats.tls.ca.secret }}
- { name: MILLRACE_NATS_CA_FILE, value: /run/secrets/nats/ca.pem }
{{- end }}
{{- if $nats.tls.client.secret }}
- { name: MILLRACE_NATS_CERT_FILE, value: /run/secrets/nats/client.pem }
- { name: MILLRACE_NATS_KEY_FILE, value: /run/secrets/nats/client.key }
{{- end }}
{{- with concat $root.Values.extraEnv (index $root.Values .role).extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Files named as settings: see MILLRACE_SECRETS_DIR. Each role gets the secrets that it needs, and no others. */}}
{{- define "millrace.secretFiles" -}}
{{- $values := .root.Values -}}
{{- if has .role (list "deliver" "control") }}
- secret: { name: {{ include "millrace.keysSecret" .root }}, items: [{ key: {{ $values.keys.key }}, path: MILLRACE_KEYS }] }
{{- end }}
{{- if has .role (list "control" "compute") }}
- secret:
    name: {{ $values.database.existingSecret }}
    items:
      - { key: {{ $values.database.urlKey }}, path: MILLRACE_DATABASE_URL }
      {{- if and (eq .role "control") $values.database.migrationUrlKey (eq $values.database.migrate "control") }}
      - { key: {{ $values.database.migrationUrlKey }}, path: MILLRACE_MIGRATION_DATABASE_URL }
      {{- end }}
{{- end }}
{{- if eq .role "control" }}
{{- with $values.bootstrapToken.existingSecret }}
- secret: { name: {{ . }}, items: [{ key: {{ $values.bootstrapToken.key }}, path: MILLRACE_BOOTSTRAP_TOKEN }] }
{{- end }}
{{- with $values.smtp.existingSecret }}
- secret: { name: {{ . }}, items: [{ key: {{ $values.smtp.key }}, path: MILLRACE_SMTP_URL }] }
{{- end }}
{{- end }}
{{- end -}}

{{- define "millrace.natsFiles" -}}
{{- with .root.Values.nats -}}
{{- $ending := get (dict "nkey" "nk" "creds" "creds") .auth.method }}
{{- if $ending }}
- secret: { name: {{ .auth.existingSecret }}, items: [{ key: {{ $.role }}.{{ $ending }}, path: {{ $.role }}.{{ $ending }} }] }
{{- end }}
{{- with .tls.ca }}{{- if .secret }}
- secret: { name: {{ .secret }}, items: [{ key: {{ .key }}, path: ca.pem }] }
{{- end }}{{- end }}
{{- with .tls.client }}{{- if .secret }}
- secret: { name: {{ .secret }}, items: [{ key: {{ .certKey }}, path: client.pem }, { key: {{ .keyKey }}, path: client.key }] }
{{- end }}{{- end }}
{{- end -}}
{{- end -}}

{{- define "millrace.pod" -}}
{{- $root := .root -}}
{{- $own := index $root.Values .role -}}
{{- $natsFiles := include "millrace.natsFiles" . -}}
{{- $secretFiles := include "millrace.secretFiles" . -}}
{{- $ports := dict "collect" $root.Values.settings.collectPort "control" $root.Values.settings.controlPort -}}
metadata:
  labels:
    {{- include "millrace.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
    {{- with $own.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    # A pod reads its settings once: a change of them replaces it.
    checksum/settings: {{ include (print $root.Template.BasePath "/settings.yaml") $root | sha256sum }}
    {{- with $own.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "millrace.serviceAccount" $root }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ $root.Values.terminationGracePeriodSeconds }}
  securityContext: {{- include "millrace.podSecurity" $root | nindent 4 }}
  {{- with $root.Values.imagePullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $own.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with $own.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $own.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $own.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $root.Values.topologySpread }}
  topologySpreadConstraints:
    {{- range . }}
    - topologyKey: {{ .topologyKey }}
      maxSkew: {{ .maxSkew }}
      whenUnsatisfiable: {{ .whenUnsatisfiable }}
      labelSelector:
        matchLabels:
          {{- include "millrace.selector" $root | nindent 10 }}
          app.kubernetes.io/component: {{ $.role }}
    {{- end }}
  {{- end }}
  containers:
    - name: millrace
      image: {{ include "millrace.image" $root }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args: [start]
      securityContext: {{- include "millrace.containerSecurity" $root | nindent 8 }}
      envFrom: [{ configMapRef: { name: {{ include "millrace.fullname" $root }}-settings } }]
      env: {{- include "millrace.env" . | nindent 8 }}
      ports:
        {{- with get $ports .role }}
        - { name: http, containerPort: {{ . }} }
        {{- end }}
        - { name: metrics, containerPort: {{ $root.Values.settings.metricsPort }} }
      # A start may have to wait for control to make the streams; the process is alive meanwhile.
      livenessProbe: { httpGet: { path: /healthz, port: metrics }, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 }
      readinessProbe: { httpGet: { path: /readyz, port: {{ ternary "http" "metrics" (hasKey $ports .role) }} }, periodSeconds: 5, timeoutSeconds: 3, failureThreshold: 2 }
      startupProbe: { httpGet: { path: /healthz, port: metrics }, periodSeconds: 2, failureThreshold: 60 }
      resources: {{- toYaml $own.resources | nindent 8 }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        {{- if $secretFiles }}
        - { name: secrets, mountPath: /run/secrets/millrace, readOnly: true }
        {{- end }}
        {{- if $natsFiles }}
        - { name: nats, mountPath: /run/secrets/nats, readOnly: true }
        {{- end }}
  volumes:
    - { name: tmp, emptyDir: { sizeLimit: 256Mi } }
    {{- with $secretFiles }}
    - name: secrets
      projected:
        defaultMode: 0440
        sources: {{- . | nindent 10 }}
    {{- end }}
    {{- with $natsFiles }}
    - name: nats
      projected:
        defaultMode: 0440
        sources: {{- . | nindent 10 }}
    {{- end }}
{{- end -}}
