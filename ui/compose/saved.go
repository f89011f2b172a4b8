package compose

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api"
	"coffer/api/caip"
	"coffer/ui/present"
	"coffer/wallet/intent"
)

// savedVersion is the version of both documents.
const savedVersion = 1

// MaxTemplates bounds the named templates, MaxName the letters of a name.
const (
	MaxTemplates = 200
	MaxName      = 60
)

// Desk is the whole unfinished work as drafts.json keeps it. Typed text is kept as text, finished or not. It has no
// network, no account and no balance. Form is the kind of the form that was shown last, Reviewed the id of the intent
// that was made of it for a review, "" when it was changed since.
type Desk struct {
	Version  int       `json:"version"`
	Form     string    `json:"form,omitzero"`
	Reviewed string    `json:"reviewed,omitzero"`
	Calls    *Calls    `json:"calls,omitzero"`
	Transfer *Exchange `json:"transfer,omitzero"`
	Swap     *Exchange `json:"swap,omitzero"`
}

// shelf holds the named templates: templates.json.
type shelf struct {
	Version   int        `json:"version"`
	Templates []Template `json:"templates"`
}

// Template is one named form: exactly one of the other members is set.
type Template struct {
	Name     string    `json:"name"`
	Calls    *Calls    `json:"calls,omitzero"`
	Exchange *Exchange `json:"exchange,omitzero"`
}

// NewTemplate is a named copy of a form.
func NewTemplate(name string, f Form) Template {
	if x, ok := f.(*Exchange); ok {
		return Template{Name: name, Exchange: x.Clone()}
	}
	b := f.(*Calls).Clone()
	b.After = "" // a fixed moment means nothing later
	return Template{Name: name, Calls: b}
}

// Desk is a copy of the template as unfinished work.
func (t Template) Desk() Desk {
	switch {
	case t.Exchange == nil:
		return Desk{Calls: t.Calls.Clone()}
	case t.Exchange.What == intent.KindSwap:
		return Desk{Form: intent.KindSwap, Swap: t.Exchange.Clone()}
	}
	return Desk{Form: intent.KindTransfer, Transfer: t.Exchange.Clone()}
}

// Words name the kind of form in a template.
func (t Template) Words() string {
	if t.Exchange != nil {
		return t.Exchange.What
	}
	return present.Plural(len(t.Calls.Calls), "call", "calls")
}

// Encode writes drafts.json.
func (d Desk) Encode() ([]byte, error) {
	d.Version = savedVersion
	if d.Calls != nil {
		d.Calls = d.Calls.saved()
	}
	return json.Marshal(d, json.Deterministic(true), chains())
}

// EncodeTemplates writes templates.json.
func EncodeTemplates(list []Template) ([]byte, error) {
	list = slices.Clone(list)
	for i, t := range list {
		if t.Calls != nil {
			list[i].Calls = t.Calls.saved()
		}
	}
	return json.Marshal(shelf{savedVersion, list}, json.Deterministic(true), jsontext.WithIndent("  "), chains())
}

// saved is a copy without the arguments of functions that do not count.
func (b *Calls) saved() *Calls {
	b = b.Clone()
	for _, c := range b.Calls {
		if c.Raw || c.Fn == nil || c.SigErr != "" {
			c.Args = nil
		}
	}
	return b
}

// chains writes and reads a chain as its CAIP-2 id.
func chains() json.Options {
	return json.JoinOptions(
		json.WithMarshalers(json.MarshalFunc(func(c caip.Chain) ([]byte, error) {
			return jsontext.AppendQuote(nil, c.String())
		})),
		json.WithUnmarshalers(json.UnmarshalFunc(func(b []byte, c *caip.Chain) error {
			text, err := jsontext.AppendUnquote(nil, b)
			if err == nil && len(text) > 0 {
				*c, err = caip.ParseChain(string(text))
			}
			return err
		})))
}

// ParseDesk reads drafts.json strictly: it refuses unknown members, other versions and impossible forms.
func (w *World) ParseDesk(b []byte) (Desk, error) {
	var d Desk
	if err := strict(b, &d); err != nil {
		return Desk{}, err
	}
	if d.Version != savedVersion {
		return Desk{}, fmt.Errorf("version %d is not known here", d.Version)
	}
	switch d.Form {
	case "", intent.KindTransfer, intent.KindSwap:
	default:
		return Desk{}, errors.New("it names a form that does not exist")
	}
	if d.Transfer != nil && d.Transfer.What != intent.KindTransfer || d.Swap != nil && d.Swap.What != intent.KindSwap {
		return Desk{}, errors.New("a form is in the place of another")
	}
	return d, errors.Join(w.load(d.Calls), d.Transfer.load(), d.Swap.load())
}

// ParseTemplates reads templates.json strictly.
func (w *World) ParseTemplates(b []byte) ([]Template, error) {
	var f shelf
	if err := strict(b, &f); err != nil {
		return nil, err
	}
	if f.Version != savedVersion {
		return nil, fmt.Errorf("version %d is not known here", f.Version)
	}
	if len(f.Templates) > MaxTemplates {
		return nil, fmt.Errorf("more than %d templates", MaxTemplates)
	}
	seen := map[string]bool{}
	for _, t := range f.Templates {
		if t.Name == "" || present.Clean(t.Name, MaxName) != t.Name || seen[t.Name] ||
			(t.Calls == nil) == (t.Exchange == nil) {
			return nil, errors.New("a template without a proper name or form")
		}
		seen[t.Name] = true
		if err := errors.Join(w.load(t.Calls), t.Exchange.load()); err != nil {
			return nil, err
		}
	}
	return f.Templates, nil
}

func strict(b []byte, v any) error {
	limits := api.DefaultLimits()
	limits.Bytes, limits.Depth = 16<<20, 200 // a hundred calls with all their data, arguments nested as deep as allowed
	if _, err := api.ParseDocument(b, limits); err != nil {
		return err
	}
	if err := json.Unmarshal(b, v, json.RejectUnknownMembers(true), chains()); err != nil {
		return errors.New("a member has another name or type than it should")
	}
	return nil
}

// load checks a form of calls that was read and completes it; a chain that the catalogue lacks becomes the default.
func (w *World) load(b *Calls) error {
	if b == nil {
		return nil
	}
	if b.Chain == (caip.Chain{}) {
		return errors.New("it names no chain")
	}
	if len(b.Calls) < 1 || max(len(b.Calls), len(b.Needs), len(b.Allow), len(b.Overrides)) > api.MaxListed {
		return fmt.Errorf("a list has not 1 to %d entries", api.MaxListed)
	}
	if slices.Contains(b.Calls, nil) || slices.Contains(b.Needs, nil) || slices.Contains(b.Allow, nil) ||
		slices.Contains(b.Overrides, nil) {
		return errors.New("an entry of a list is missing")
	}
	for _, o := range b.Overrides {
		if len(o.Slots) > api.MaxListed || slices.Contains(o.Slots, nil) {
			return fmt.Errorf("an address has more than %d slots, or a missing one", api.MaxListed)
		}
	}
	for _, c := range b.Calls {
		if err := c.load(); err != nil {
			return err
		}
	}
	b.Chain = w.NewCalls(b.Chain).Chain
	b.Slip.load(OwnBps, Slippages())
	b.Valid.load(OwnMinutes, Validities())
	b.Start.load(OwnMinutes, Starts())
	return nil
}

// load parses the signature; the arguments must have its shape.
func (c *Call) load() error {
	if len(c.ABI) > maxFunctions {
		return errors.New("an ABI with too many functions")
	}
	c.ABI = slices.DeleteFunc(c.ABI, func(o Offered) bool { return o.Fn.Name() == "" })
	args := c.Args
	c.Args = nil
	if c.Raw {
		return nil
	}
	c.ReadSignature(false)
	if len(args) == 0 {
		return nil
	}
	if c.Fn == nil || !fit(c.Fn.Inputs(), args) {
		return errors.New("arguments that do not fit their signature")
	}
	c.Args = args
	return nil
}

func (t *Choice) load(own int, presets []int) {
	if !slices.Contains(presets, t.Preset) {
		t.Preset = own
	}
}

func (x *Exchange) load() error {
	switch {
	case x == nil:
		return nil
	case x.What != intent.KindTransfer && x.What != intent.KindSwap:
		return errors.New("a form of an unknown kind")
	}
	x.Slip.load(OwnBps, Slippages())
	return nil
}
