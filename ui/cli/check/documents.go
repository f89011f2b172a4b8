package check

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/ui/cli"
	"coffer/ui/cli/act/plan"
)

// kind is what a document is, in words.
type kind string

const (
	kindIntent   kind = "the intent"
	kindNetwork  kind = "the network's descriptor"
	kindPrepared kind = "the answer to prepare"
	kindRequest  kind = "the signed request for a quote"
	kindQuote    kind = "the quote"
	kindBundle   kind = "a bundle"
	kindPlan     kind = "a plan"
	kindResult   kind = "what a command printed with --json"
)

// flag is the name of the flag that takes a file of the kind.
func (k kind) flag() string {
	return map[kind]string{kindIntent: "intent", kindNetwork: "network", kindPrepared: "prepared",
		kindRequest: "request", kindQuote: "quote"}[k]
}

// maxFile bounds a file, in MiB: a bundle holds two answers as text.
const maxFile = 32

// signatures are the signatures of a bundle.
type signatures struct {
	Operation  string                   `json:"operation"`
	Delegation *api.DelegationSignature `json:"delegation,omitzero"`
}

// inputs are the documents of one run, by kind, as read. Broken lists those that do not read as their kind.
type inputs struct {
	raw        map[kind][]byte
	signatures *signatures
	saved      time.Time // the time that a bundle names
	broken     []Reason
}

// readInputs reads the files and finds out their kinds. A wrong name on the command line is an error; a fault inside a
// file is not, it is refused later.
func readInputs(o options) (*inputs, error) {
	in := &inputs{raw: map[kind][]byte{}}
	for _, k := range []kind{kindIntent, kindNetwork, kindPrepared, kindRequest, kindQuote} {
		if path := *o.named[k]; path != "" {
			b, err := cli.ReadFile(path, maxFile)
			if err != nil {
				return nil, err
			}
			if err := in.put(k, b); err != nil {
				return nil, err
			}
		}
	}
	for _, path := range o.files {
		b, err := cli.ReadFile(path, maxFile)
		if err != nil {
			return nil, err
		}
		if err := in.recognised(path, b); err != nil {
			return nil, err
		}
	}
	if len(in.raw) == 0 && len(in.broken) == 0 {
		return nil, &cli.UsageError{Problem: "there is nothing to verify: name files",
			Hint: "see `coffer verify --help`"}
	}
	return in, nil
}

func (in *inputs) put(k kind, b []byte) error {
	if _, twice := in.raw[k]; twice {
		return &cli.UsageError{Problem: string(k) + " is given twice"}
	}
	in.raw[k] = b
	return nil
}

// recognised finds out what a file is by its members.
func (in *inputs) recognised(path string, b []byte) error {
	if !bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) && plan.IsPlan(b) { // TOML
		return in.plan(path, b)
	}
	doc, err := api.ParseDocument(b, api.Limits{Bytes: maxFile << 20, Depth: 64, Elements: 100_000, Values: 1_000_000})
	if err != nil {
		in.broken = append(in.broken, unreadable(clean(path)+" cannot be read.", err))
		return nil
	}
	switch k := recognise(doc); k {
	case "":
		return &cli.UsageError{
			Problem: path + " is none of the documents that can be verified",
			Hint:    "name what it is with --intent, --network, --prepared, --request or --quote",
		}
	case kindBundle:
		return in.bundle(path, doc)
	case kindResult:
		return in.printed(path, doc)
	case kindPlan:
		return in.plan(path, b)
	default:
		return in.put(k, b)
	}
}

func recognise(doc *api.Document) kind {
	members, _ := doc.Members("")
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(members, n) })
	}
	switch {
	case has("operation", "intent", "state"):
		return kindResult
	case has("salt", "intent"):
		return kindPlan
	case has("intent", "network"):
		return kindBundle
	case has("pins", "genesis"):
		return kindNetwork
	case has("originChainsOperations"):
		return kindQuote
	case has("chainOperation"):
		signature, ok := doc.At("/chainOperation/userOp/signature")
		if ok && string(signature) != `"0x"` && !has("callType") && !has("sourceAssetBalances") {
			return kindRequest
		}
		return kindPrepared
	case has("version") && (has("calls") || has("pay") || has("targetChain")):
		return kindIntent
	}
	return ""
}

// bundle splits a bundle. Its answers are texts that hold the bytes as they were received.
func (in *inputs) bundle(path string, doc *api.Document) error {
	var w struct {
		Name       string      `json:"name"`
		Now        int64       `json:"now"`
		Intent     any         `json:"intent"`
		Network    any         `json:"network"`
		Prepared   *string     `json:"prepared"`
		Signatures *signatures `json:"signatures"`
		Quote      *string     `json:"quote"`
	}
	if err := json.Unmarshal(doc.Raw(), &w, json.RejectUnknownMembers(true)); err != nil {
		in.broken = append(in.broken, unreadable(clean(path)+" is not a bundle that this program reads.", err))
		return nil
	}
	parts := map[kind][]byte{}
	parts[kindIntent], _ = doc.At("/intent")
	parts[kindNetwork], _ = doc.At("/network")
	if w.Prepared != nil {
		parts[kindPrepared] = []byte(*w.Prepared)
	}
	if w.Quote != nil {
		parts[kindQuote] = []byte(*w.Quote)
	}
	for k, b := range parts {
		if err := in.put(k, b); err != nil {
			return err
		}
	}
	if w.Now > 0 && w.Now <= maxSeconds {
		in.saved = time.Unix(w.Now, 0)
	}
	in.signatures = w.Signatures
	return nil
}

// document parses one of the documents as an answer of the service; a fault is a refusal.
func (in *inputs) document(k kind) (*api.Document, *Reason) {
	b, ok := in.raw[k]
	if !ok {
		return nil, nil
	}
	doc, err := api.ParseDocument(b, api.DefaultLimits())
	if err != nil {
		r := unreadable(strings.ToUpper(string(k)[:1])+string(k)[1:]+" cannot be read.", err)
		return nil, &r
	}
	return doc, nil
}
