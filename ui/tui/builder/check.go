package builder

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/ui/tui/kit"
	"coffer/wallet/intent"
)

// The ids of rows; i counts calls, needs and allowances from 0.
const (
	idChain     = "chain"
	idNeeds     = "needs"
	idAddNeed   = "needs.add"
	idAllow     = "allow"
	idFund      = "fund"
	idSlip      = "slip"
	idSlipBps   = "slip.bps"
	idValid     = "valid"
	idAfter     = "after"
	idOverrides = "overrides"
	idReview    = "review"
)

func idTo(i int) string    { return fmt.Sprintf("call.%d.to", i) }
func idSig(i int) string   { return fmt.Sprintf("call.%d.sig", i) }
func idData(i int) string  { return fmt.Sprintf("call.%d.data", i) }
func idValue(i int) string { return fmt.Sprintf("call.%d.value", i) }
func idArg(i int, path []int) string {
	return fmt.Sprintf("call.%d.arg.%s", i, pathText(path))
}
func idNeed(i int, part string) string     { return fmt.Sprintf("need.%d.%s", i, part) }
func idAllowRow(i int, part string) string { return fmt.Sprintf("allow.%d.%s", i, part) }

// mistakes are the problems that can be seen from here, by row id. Empty fields count only after Review was asked for.
func (s *Screen) mistakes() map[string]string {
	out := map[string]string{}
	put := func(id, problem string) {
		if problem != "" && out[id] == "" {
			out[id] = problem
		}
	}
	for i, c := range s.b.calls {
		s.callMistakes(i, c, put)
	}
	for i, n := range s.b.needs {
		if s.b.own {
			put(idNeed(i, "amount"), s.tokenMistake(n.asset, n.amount.Value()))
		}
	}
	for i, a := range s.b.allow {
		put(idAllowRow(i, "amount"), s.tokenMistake(a.asset, a.amount.Value()))
		put(idAllowRow(i, "spender"), s.addressMistake(a.spender.Value()))
	}
	if s.b.slip == 0 && s.b.bps() == 0 {
		put(idSlipBps, "a whole number of basis points from 1 to 10000 (100 are 1 %)")
	}
	if _, ok := s.b.minutes(); !ok {
		put(idValid, fmt.Sprintf("whole minutes from %d to %d", minMinutes, maxMinutes))
	}
	for id, text := range s.told {
		put(id, text)
	}
	return out
}

func (s *Screen) callMistakes(i int, c *call, put func(id, problem string)) {
	cat := s.ctx.Catalog
	put(idTo(i), s.addressMistake(c.to.Value()))
	if v := trim(c.value.Value()); v != "" {
		if _, err := amount.Parse(v, s.b.native(cat).Decimals); err != nil {
			put(idValue(i), plain(err))
		}
	}
	decimals := s.b.decimals(cat, c)
	if _, _, name := c.approval(decimals); name != "" {
		id := idSig(i)
		if c.raw {
			id = idData(i)
		}
		if name == "approve" {
			how := "a moves it there"
			if s.editing {
				how = "esc, then a, moves it there"
			}
			put(id, "an approve() belongs under allow: "+how)
		} else {
			put(id, name+" cannot be a call: declare what it may take under allow")
		}
	}
	if c.raw {
		if d := trim(c.data.Value()); d != "" || s.tried {
			if _, ok := c.calldata(decimals); !ok || !strings.HasPrefix(d, "0x") {
				put(idData(i), "0x and an even number of hexadecimal digits")
			}
		}
		return
	}
	put(idSig(i), c.sigErr)
	if c.fn == nil {
		return
	}
	s.argMistakes(i, c, decimals, put)
}

func (s *Screen) argMistakes(i int, c *call, decimals int, put func(id, problem string)) {
	values, bad := valuesOf(c.args, decimals)
	for path, problem := range bad {
		put(fmt.Sprintf("call.%d.arg.%s", i, path), problem)
	}
	for _, e := range c.fn.Check(values) {
		n := find(c.args, e.Path)
		if n != nil && n.field != nil && n.field.Value() == "" && !s.tried && n.param.Type != "string" {
			continue
		}
		if bad[pathText(e.Path)] == "" {
			put(idArg(i, e.Path), needed(e.Problem))
		}
	}
}

// addressMistake checks an address as it is typed; a symbol or name that is known is no mistake.
func (s *Screen) addressMistake(text string) string {
	text = trim(text)
	switch {
	case text == "" && !s.tried:
		return ""
	case text == "":
		return "an address is needed"
	case s.named(text) != "":
		return ""
	}
	if _, err := caip.ParseAddress(text); err != nil {
		if strings.HasPrefix(text, "0x") && len(text) < 42 {
			return strconv.Itoa(len(text)-2) + " of 40 hexadecimal digits"
		}
		return "an address is 0x and 40 hexadecimal digits"
	}
	if caip.CheckEIP55(text) != nil {
		return "the checksum is wrong: a letter or digit has changed"
	}
	return ""
}

func (s *Screen) tokenMistake(asset, text string) string {
	a, err := caip.ParseAsset(asset)
	if err != nil {
		return "choose an asset first"
	}
	e, ok := s.ctx.Catalog.Entity(a)
	if text = trim(text); !ok || text == "" {
		if text == "" && !s.tried {
			return ""
		}
		return "an amount is needed"
	}
	if _, err := amount.Parse(text, e.Decimals); err != nil {
		return plain(err)
	}
	return ""
}

// needed is a problem as a person says it: "want a number" is "needs a number".
func needed(problem string) string {
	if rest, ok := strings.CutPrefix(problem, "want "); ok {
		problem = "needs " + rest
	}
	return kit.Clean(problem, 200)
}

func plain(err error) string { return kit.Clean(err.Error(), 200) }

// named is the address of a known token's symbol or of a contact's name, "" when there is none.
func (s *Screen) named(text string) string {
	for _, e := range s.b.tokens(s.ctx.Catalog) {
		if strings.EqualFold(e.Symbol, text) {
			a, _ := e.Asset.Token()
			return a.Hex()
		}
	}
	for _, c := range s.deps.Book {
		if strings.EqualFold(c.Name, text) {
			return c.Address
		}
	}
	return ""
}

func failuresOf(err error) []api.Failure {
	var ie *intent.Error
	if errors.As(err, &ie) {
		return ie.Failures
	}
	return nil
}

// refuse puts the failures of the rules or of the service to their fields; what belongs to no field is listed above them.
func (s *Screen) refuse(fs []api.Failure, err error) {
	s.told, s.general = map[string]string{}, nil
	for _, f := range fs {
		text := "expected " + kit.Clean(f.Expected, 200)
		if f.Got != "" && f.Got != "nothing" {
			text += ", got " + kit.Clean(f.Got, 100)
		}
		id := s.rowOf(f.Path)
		if id == "" || s.told[id] != "" {
			s.general = append(s.general, kit.Clean(f.String(), 400))
			continue
		}
		s.told[id] = text
	}
	if len(fs) == 0 && err != nil {
		s.general = []string{plain(err)}
	}
}

// rowOf maps a path of the prepare request to the row that holds it.
func (s *Screen) rowOf(path string) string {
	var i int
	var rest string
	switch {
	case scan(path, "calls[%d].%s", &i, &rest) && i < len(s.b.calls):
		switch {
		case rest == "to":
			return idTo(i)
		case rest == "value":
			return idValue(i)
		case s.b.calls[i].raw:
			return idData(i)
		}
		return idSig(i)
	case scan(path, "tokensRequired[%d].%s", &i, &rest):
		if s.b.own && i < len(s.b.needs) {
			return idNeed(i, map[bool]string{true: "amount", false: "asset"}[rest == "amount"])
		}
		return idNeeds
	case scan(path, "allowanceRequirements[%d].%s", &i, &rest) && i < len(s.b.allow):
		switch rest {
		case "amount", "spender":
			return idAllowRow(i, rest)
		}
		return idAllowRow(i, "asset")
	}
	switch {
	case strings.HasPrefix(path, "overrides") && len(s.b.kept.overrides) > 0:
		return idOverrides
	case path == "validAfter" && s.b.kept.after != "":
		return idAfter
	}
	return map[string]string{
		"targetChain": idChain, "fromAssetId": idFund, "slippageTolerance": idSlip, "validUntil": idValid, "validAfter": idValid, "tokensRequired": idNeeds,
		"allowanceRequirements": idAllow,
	}[path]
}

func scan(path, format string, i *int, rest *string) bool {
	n, err := fmt.Sscanf(path, format, i, rest)
	return err == nil && n == 2 && *i >= 0
}
