package intent

import (
	"bytes"
	_ "embed" // the schema
)

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of the files that ParseDraft reads. Every file that Parse accepts is
// valid under it. It cannot say all that Freeze checks: what the catalogue knows, checksums of addresses, times and the
// rules that join several members.
func Schema() []byte { return bytes.Clone(schema) }
