package builder

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op/abicall"
	"coffer/ui/present"
)

// savedVersion is the version of both documents.
const savedVersion = 1

// maxTemplates bounds the named templates, maxName the letters of a name.
const (
	maxTemplates = 200
	maxName      = 60
)

// desk is the whole content of the screen as drafts.json keeps it. Typed text is kept as text, finished or not. It has
// no network, no account and no balance.
type desk struct {
	Version  int            `json:"version"`
	Form     string         `json:"form,omitzero"`
	Calls    *savedBatch    `json:"calls,omitzero"`
	Transfer *savedExchange `json:"transfer,omitzero"`
	Swap     *savedExchange `json:"swap,omitzero"`
}

// shelf holds the named templates: templates.json.
type shelf struct {
	Version   int             `json:"version"`
	Templates []savedTemplate `json:"templates"`
}

// savedTemplate is one named form: exactly one of the other members is set.
type savedTemplate struct {
	Name     string         `json:"name"`
	Calls    *savedBatch    `json:"calls,omitzero"`
	Exchange *savedExchange `json:"exchange,omitzero"`
}

type savedBatch struct {
	Chain     string           `json:"chain"`
	Calls     []savedCall      `json:"calls"`
	Own       bool             `json:"own,omitzero"`
	Needs     []savedNeed      `json:"needs,omitempty"`
	Allow     []savedAllowance `json:"allow,omitempty"`
	Fund      string           `json:"fund,omitzero"`
	Slip      savedChoice      `json:"slip"`
	Valid     savedChoice      `json:"valid"`
	Start     savedChoice      `json:"start"`
	After     string           `json:"after,omitzero"`
	Overrides []savedOverride  `json:"overrides,omitempty"`
	V1        bool             `json:"v1,omitzero"`
}

// savedChoice is a preset with the text of the field beside it.
type savedChoice struct {
	Preset int    `json:"preset"`
	Text   string `json:"text,omitzero"`
}

type savedCall struct {
	To        string      `json:"to,omitzero"`
	Signature string      `json:"signature,omitzero"`
	Args      []savedNode `json:"args,omitempty"`
	Raw       bool        `json:"raw,omitzero"`
	Data      string      `json:"data,omitzero"`
	Value     string      `json:"value,omitzero"`
	ABI       []string    `json:"abi,omitempty"`
}

// savedNode is an argument: the text of a field, or items.
type savedNode struct {
	Text  string      `json:"text,omitzero"`
	Units bool        `json:"units,omitzero"`
	Items []savedNode `json:"items,omitempty"`
}

type savedNeed struct {
	Asset  string `json:"asset"`
	Amount string `json:"amount,omitzero"`
}

type savedAllowance struct {
	Asset   string `json:"asset"`
	Spender string `json:"spender,omitzero"`
	Amount  string `json:"amount,omitzero"`
}

type savedOverride struct {
	Address string      `json:"address,omitzero"`
	Balance string      `json:"balance,omitzero"`
	Code    string      `json:"code,omitzero"`
	Slots   []savedSlot `json:"slots,omitempty"`
}

type savedSlot struct {
	Key   string `json:"key,omitzero"`
	Value string `json:"value,omitzero"`
}

type savedExchange struct {
	Kind    string      `json:"kind"`
	Pay     string      `json:"pay,omitzero"`
	Amount  string      `json:"amount,omitzero"`
	Receive string      `json:"receive,omitzero"`
	At      string      `json:"at,omitzero"`
	To      string      `json:"to,omitzero"`
	Minimum string      `json:"minimum,omitzero"`
	Slip    savedChoice `json:"slip"`
	V1      bool        `json:"v1,omitzero"`
}

// parseDesk reads drafts.json strictly: it refuses unknown members, other versions and impossible forms.
func parseDesk(b []byte) (desk, error) {
	var d desk
	if err := strict(b, &d); err != nil {
		return desk{}, err
	}
	if d.Version != savedVersion {
		return desk{}, fmt.Errorf("version %d is not known here", d.Version)
	}
	switch d.Form {
	case formCalls, formTransfer, formSwap:
	default:
		return desk{}, errors.New("it names a form that does not exist")
	}
	if d.Transfer != nil && d.Transfer.Kind != formTransfer || d.Swap != nil && d.Swap.Kind != formSwap {
		return desk{}, errors.New("a form stands in the place of another")
	}
	return d, errors.Join(checkBatch(d.Calls), checkExchange(d.Transfer), checkExchange(d.Swap))
}

// parseShelf reads templates.json strictly.
func parseShelf(b []byte) (shelf, error) {
	var f shelf
	if err := strict(b, &f); err != nil {
		return shelf{}, err
	}
	if f.Version != savedVersion {
		return shelf{}, fmt.Errorf("version %d is not known here", f.Version)
	}
	if len(f.Templates) > maxTemplates {
		return shelf{}, fmt.Errorf("more than %d templates", maxTemplates)
	}
	seen := map[string]bool{}
	for _, t := range f.Templates {
		if t.Name == "" || present.Clean(t.Name, maxName) != t.Name || seen[t.Name] ||
			(t.Calls == nil) == (t.Exchange == nil) {
			return shelf{}, errors.New("a template without a proper name or form")
		}
		seen[t.Name] = true
		if err := errors.Join(checkBatch(t.Calls), checkExchange(t.Exchange)); err != nil {
			return shelf{}, err
		}
	}
	return f, nil
}

func strict(b []byte, v any) error {
	limits := api.DefaultLimits()
	limits.Bytes, limits.Depth = 16<<20, 200 // a hundred calls with all their data, arguments nested as deep as allowed
	if _, err := api.ParseDocument(b, limits); err != nil {
		return err
	}
	if err := json.Unmarshal(b, v, json.RejectUnknownMembers(true)); err != nil {
		return errors.New("a member has another name or type than it should")
	}
	return nil
}

func checkBatch(b *savedBatch) error {
	if b == nil {
		return nil
	}
	if _, err := caip.ParseChain(b.Chain); err != nil {
		return err
	}
	if len(b.Calls) < 1 || len(b.Calls) > api.MaxListed || len(b.Needs) > api.MaxListed ||
		len(b.Allow) > api.MaxListed || len(b.Overrides) > api.MaxListed {
		return fmt.Errorf("a list has not 1 to %d entries", api.MaxListed)
	}
	for _, o := range b.Overrides {
		if len(o.Slots) > api.MaxListed {
			return fmt.Errorf("more than %d slots of one address", api.MaxListed)
		}
	}
	for _, c := range b.Calls {
		if len(c.ABI) > maxFunctions {
			return errors.New("an ABI with too many functions")
		}
		if _, err := c.nodes(); err != nil {
			return err
		}
	}
	return nil
}

func checkExchange(x *savedExchange) error {
	switch {
	case x == nil:
		return nil
	case x.Kind != formTransfer && x.Kind != formSwap:
		return errors.New("a form of an unknown kind")
	case x.At != "":
		_, err := caip.ParseChain(x.At)
		return err
	}
	return nil
}

// nodes makes the arguments of a saved call; they must have the shape of its signature.
func (s savedCall) nodes() ([]*node, error) {
	if s.Raw || len(s.Args) == 0 {
		return nil, nil
	}
	fn, err := abicall.ParseSignature(s.Signature)
	if err != nil {
		return nil, err
	}
	return loadNodes(fn.Inputs(), s.Args)
}
