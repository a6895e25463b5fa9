{{- define "millrace.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "millrace.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "millrace.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "millrace.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* What selects pods, which never changes. */}}
{{- define "millrace.selector" -}}
app.kubernetes.io/name: {{ include "millrace.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "millrace.labels" -}}
{{ include "millrace.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "millrace.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}{{ .repository }}@{{ .digest }}{{- else -}}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{- end -}}
{{- end -}}
{{- end -}}

{{- define "millrace.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}{{ .Values.serviceAccount.name | default (include "millrace.fullname" .) }}
{{- else -}}{{ .Values.serviceAccount.name | default "default" }}{{- end -}}
{{- end -}}

{{- define "millrace.keysSecret" -}}
{{- .Values.keys.existingSecret | default (printf "%s-keys" (include "millrace.fullname" .)) -}}
{{- end -}}

{{- define "millrace.natsSecret" -}}
{{- .Values.nats.auth.existingSecret | default (printf "%s-nats-users" (include "millrace.fullname" .)) -}}
{{- end -}}

{{/*
A secret that was generated once: from the cluster if it is there. An upgrade that does not find it must not make another one, because
stored secrets could not be opened and NATS would refuse the new passwords. A tool that renders without a cluster never finds it, so each
rendering would make another one: there the values must choose. Arguments: root, secret, key, value for a first install.
*/}}
{{- define "millrace.generatedOnce" -}}
{{- $found := lookup "v1" "Secret" .root.Release.Namespace .secret -}}
{{- if and $found (hasKey ($found.data | default dict) .key) -}}
{{- index $found.data .key -}}
{{- else if not (or .root.Values.keys.generate (lookup "v1" "Namespace" "" "kube-system")) -}}
{{- fail (printf "Helm renders without a cluster here (helm template, Argo CD, --dry-run=client), so each rendering would generate another Secret %s: name Secrets of your own (keys.existingSecret, nats.auth.existingSecret), or set keys.generate to true if you apply the result only once" .secret) -}}
{{- else if or .root.Release.IsInstall $found -}}
{{- .value | b64enc -}}
{{- else -}}
{{- fail (printf "the Secret %s is not in namespace %s, or this tool renders without a cluster: restore it, or name one of your own (keys.existingSecret, nats.auth.existingSecret)" .secret .root.Release.Namespace) -}}
{{- end -}}
{{- end -}}

{{/* Values that no schema can demand with a sentence. */}}
{{- define "millrace.check" -}}
{{- if not .Values.nats.servers -}}{{ fail "set nats.servers, such as [nats.nats.svc:4222]: docs/run/install-kubernetes.md" }}{{- end -}}
{{- if not .Values.database.existingSecret -}}{{ fail "set database.existingSecret to a Secret with the URLs of PostgreSQL: docs/run/install-kubernetes.md" }}{{- end -}}
{{- if and (has .Values.nats.auth.method (list "nkey" "creds")) (not .Values.nats.auth.existingSecret) -}}
{{ fail (printf "nats.auth.method %s needs nats.auth.existingSecret" .Values.nats.auth.method) }}
{{- end -}}
{{- if and (eq .Values.database.migrate "job") (not .Values.database.migrationUrlKey) -}}{{ fail "database.migrate job needs database.migrationUrlKey" }}{{- end -}}
{{- if lt (int .Values.terminationGracePeriodSeconds) (add 30 (div (int .Values.settings.drainMs) 1000) | int) -}}
{{ fail "terminationGracePeriodSeconds must be at least 30 more than settings.drainMs / 1000" }}
{{- end -}}
{{- range $role := list "collect" "deliver" -}}
{{- $scaling := (index $.Values $role).autoscaling -}}
{{- if and $scaling.enabled (eq $scaling.by "keda") (not $.Values.keda.prometheusUrl) -}}{{ fail (printf "%s.autoscaling.by keda needs keda.prometheusUrl" $role) }}{{- end -}}
{{- end -}}
{{- range $name, $ingress := .Values.ingress -}}
{{- if and $ingress.enabled (not $ingress.host) -}}{{ fail (printf "ingress.%s needs a host" $name) }}{{- end -}}
{{- end -}}
{{- end -}}
