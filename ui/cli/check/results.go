package check

import (
	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/ui/cli"
	"coffer/ui/cli/act/plan"
)

// plan takes the intent out of a plan file, TOML or JSON, whose hash matches its content. It ignores the limits of the
// plan, which are not those of a policy file: `coffer apply` enforces them.
func (in *inputs) plan(path string, b []byte) error {
	p, err := plan.Parse(b)
	if err != nil {
		in.broken = append(in.broken, unreadable(clean(path)+" is not a plan that can be applied.", err))
		return nil
	}
	raw, err := json.Marshal(p.Intent, json.Deterministic(true))
	if err != nil {
		return err
	}
	return in.put(kindIntent, raw)
}

// printed takes the answers of the service, byte for byte, out of the --json output of call, transfer, swap or apply.
func (in *inputs) printed(path string, doc *api.Document) error {
	found := false
	for member, k := range map[string]kind{"/prepared": kindPrepared, "/quote": kindQuote} {
		if b, ok := doc.At(member); ok {
			if err := in.put(k, b); err != nil {
				return err
			}
			found = true
		}
	}
	if !found {
		return &cli.UsageError{Problem: clean(path) + " holds no answer of the service",
			Hint: "the answers are in what call, transfer, swap and apply print with --json"}
	}
	return nil
}
