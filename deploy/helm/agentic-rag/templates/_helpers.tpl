{{- define "agentic-rag.labels" -}}
app.kubernetes.io/name: agentic-rag
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{- define "agentic-rag.image" -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion -}}
{{- if hasPrefix "sha256:" $tag }}{{ .Values.image.repository }}@{{ $tag }}{{ else }}{{ .Values.image.repository }}:{{ $tag }}{{ end -}}
{{- end }}

{{/* What no container of ours may do. */}}
{{- define "agentic-rag.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- define "agentic-rag.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{/* Environment: settings, and the file of each secret that the pod mounts. Arguments: root, secrets (a list). */}}
{{- define "agentic-rag.environment" -}}
{{- $names := dict "database-url" "DATABASE_URL" "owner-database-url" "AGENTIC_RAG_OWNER_DATABASE_URL" "redis-url" "REDIS_URL" "master-keys" "AGENTIC_RAG_MASTER_KEYS" "token" "AGENTIC_RAG_TOKEN" "openai-api-key" "OPENAI_API_KEY" "neo4j-uri" "NEO4J_URI" "blob-store" "AGENTIC_RAG_BLOB_STORE" "database-read-url" "DATABASE_READ_URL" -}}
- {name: AGENTIC_RAG_ENABLED, value: "true"}
- {name: AGENTIC_RAG_HOME, value: /var/lib/agentic-rag}
{{- range .secrets }}
- {name: {{ get $names . }}_FILE, value: /run/secrets/agentic-rag/{{ . }}}
{{- end }}
{{- range $name, $value := .root.Values.settings }}
- {name: {{ $name }}, value: {{ $value | toString | quote }}}
{{- end }}
{{- end }}

{{/* The volume of those secrets. */}}
{{- define "agentic-rag.secretVolume" -}}
- name: secrets
  secret:
    secretName: {{ .root.Values.secret }}
    defaultMode: 0440
    items:
      {{- range .secrets }}
      - {key: {{ . }}, path: {{ . }}}
      {{- end }}
{{- end }}

{{/* Originals lie in the home unless blob-store names a bucket: several pods then share one volume. */}}
{{- define "agentic-rag.homeVolume" -}}
{{- if has "blob-store" .Values.optionalSecrets -}}
- {name: home, emptyDir: {}}
{{- else -}}
- {name: home, persistentVolumeClaim: {claimName: {{ .Release.Name }}-home}}
{{- end }}
{{- end }}
