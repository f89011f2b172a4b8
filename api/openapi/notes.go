package openapi

// Note is what a Go type cannot say of a member: words, a pattern, an enumeration, bounds, an example. Ref names the
// schema to use in place of the type's own.
type Note struct {
	Text, Pattern, Format, Ref string
	Enum                       []string
	Example                    any
	Min, Max                   *int  // of an integer
	MinItems, MaxItems         int   // of an array; MaxItems 0 is no bound
	MaxLength                  int   // of a string; 0 is no bound
	Each                       *Note // of the elements of an array or the values of an object
}

// onto adds the note to a schema.
func (n Note) onto(s object) object {
	if n.Each != nil {
		for i, m := range s {
			if inner, ok := m.value.(object); ok && (m.name == "items" || m.name == "additionalProperties") {
				s = append(object{}, s...)
				s[i].value = n.Each.onto(inner)
			}
		}
	}
	for _, m := range []member{
		{"description", n.Text}, {"pattern", n.Pattern}, {"format", n.Format},
	} {
		if m.value != "" {
			s = s.with(m.name, m.value)
		}
	}
	if n.Enum != nil {
		s = s.with("enum", n.Enum)
	}
	if n.Min != nil {
		s = s.without("minimum").with("minimum", *n.Min)
	}
	if n.Max != nil {
		s = s.with("maximum", *n.Max)
	}
	if n.MinItems > 0 {
		s = s.with("minItems", n.MinItems)
	}
	if n.MaxItems > 0 {
		s = s.with("maxItems", n.MaxItems)
	}
	if n.MaxLength > 0 {
		s = s.with("maxLength", n.MaxLength)
	}
	if n.Example != nil {
		s = s.with("examples", []any{n.Example})
	}
	return s
}

// get returns the value of a member, nil when there is none.
func (o object) get(name string) any {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// without returns the object without a member.
func (o object) without(name string) object {
	out := object{}
	for _, m := range o {
		if m.name != name {
			out = append(out, m)
		}
	}
	return out
}

// Patterns that many members share.
const (
	reAddress    = `^0x[a-fA-F0-9]{40}$`
	reAnyAccount = `^(0x[a-fA-F0-9]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$`
	reHex        = `^0x([0-9a-fA-F]{2})*$`
	reSomeHex    = `^0x([0-9a-fA-F]{2})+$`
	reWord       = `^0x[a-fA-F0-9]{64}$`
	reUnits      = `^(0|[1-9][0-9]{0,77})$`
	reUnix       = `^[0-9]+$`
	reUSD        = `^[0-9]+\.[0-9]{2}$`
	reWorth      = `^([0-9]+\.[0-9]{2})?$` // empty where there is no price
	reAsset      = `^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}/[-a-z0-9]{3,8}:[-.%a-zA-Z0-9]{1,128}$`
	reAggregate  = `^ob:[^\s]+$`
	reAnyAsset   = `^(ob:[^\s/]+|[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}/[-a-z0-9]{3,8}:[-.%a-zA-Z0-9]{1,128})$`
	reChain      = `^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$`
	reTarget     = `^[a-z0-9]+:[0-9]+$`
	reBase58     = `^[1-9A-HJ-NP-Za-km-z]{32,44}$`
	reBase58Sig  = `^[1-9A-HJ-NP-Za-km-z]{64,88}$`
	reBase64     = `^[A-Za-z0-9+/]+={0,2}$`
	reRecipient  = `^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}:[a-zA-Z0-9]+$`
	reSlash      = `^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}/[a-zA-Z0-9]+$`
	reTx         = `^(0x[a-fA-F0-9]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$`
	reSigned     = `^0x[a-fA-F0-9]{130}$`
)

// Examples that many members share.
const (
	exAccount = "0xE20295ec513DEf805D9c3083b0C8EaB64692D764"
	exSession = "0x1cBFbFd62a276BF6D79d504eA4CA75a7baDcf5b1"
	exAdmin   = "0xc162a3cE45ad151eeCd0a5532D6E489D034aB3B8"
	exUSDC    = "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
	exSOL     = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/slip44:501"
	exSolana  = "J5CCzBULFax899tcirb6wMbenQUd8whbaetG7EfSick5"
	exQuote   = "0xfa6094cd9d65416c975e3498cc5c2ca17df6c4cfa37e16f84f2736296dd98b5d"
)

func text(s string) Note { return Note{Text: s} }

func units(s string) Note { return Note{Text: s, Pattern: reUnits, Example: "1000000"} }

func worth(example string) Note {
	return Note{Text: "USD; empty when there is no price.", Pattern: reWorth, Example: example}
}

func address(s string) Note { return Note{Text: s, Pattern: reAddress, Example: exAccount} }
