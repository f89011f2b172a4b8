package builder

import (
	"errors"
	"strconv"
	"strings"

	"coffer/api"
	"coffer/ui/present"
	"coffer/wallet/intent"
)

func failuresOf(err error) []api.Failure {
	var ie *intent.Error
	if errors.As(err, &ie) {
		return ie.Failures
	}
	return nil
}

// refuse puts the failures of the rules or of the service at their fields; one without a field is listed above the
// form.
func (s *Screen) refuse(fs []api.Failure, err error) {
	s.fieldErrors, s.general = map[string]string{}, nil
	for _, f := range fs {
		text := "expected " + present.Clean(f.Expected, 200)
		switch {
		case strings.HasPrefix(f.Expected, "a call that succeeds"):
			text = "tried out, the call fails"
			if f.Got != "" {
				text += ": " + present.Clean(f.Got, 200)
			}
		case f.Got != "" && f.Got != "nothing":
			text += ", got " + present.Clean(f.Got, 100)
		}
		id := s.rowOf(f.Path)
		if id == "" || s.fieldErrors[id] != "" {
			s.general = append(s.general, present.Clean(f.String(), 400))
			continue
		}
		s.fieldErrors[id] = text
	}
	if len(fs) == 0 && err != nil {
		s.general = []string{plain(err)}
	}
}

// rowOf maps a path of the prepare request to the row that holds it.
func (s *Screen) rowOf(path string) string {
	if s.form != formCalls {
		return s.exchangeRow(path)
	}
	var i int
	var rest string
	switch {
	case indexed(path, "calls", &i, &rest) && i < len(s.b.calls):
		switch {
		case rest == "to":
			return idTo(i)
		case rest == "value":
			return idValue(i)
		case s.b.calls[i].raw:
			return idData(i)
		}
		return idSig(i)
	case indexed(path, "tokensRequired", &i, &rest):
		if s.b.own && i < len(s.b.needs) {
			return idNeed(i, map[bool]string{true: "amount", false: "asset"}[rest == "amount"])
		}
		return idNeeds
	case (indexed(path, "allowanceRequirements", &i, &rest) || indexed(path, "allowances", &i, &rest)) &&
		i < len(s.b.allow):
		switch rest {
		case "amount", "spender":
			return idAllowRow(i, rest)
		}
		return idAllowRow(i, "asset")
	}
	if indexed(path, "overrides", &i, &rest) && i < len(s.b.over) {
		return s.overrideRow(i, rest)
	}
	return map[string]string{
		"targetChain": idChain, "fromAssetId": idFund, "fundWith": idFund, "slippageTolerance": s.slipID(),
		"slippageBps": s.slipID(), "validUntil": idValid, "validAfter": idAfter,
		"tokensRequired": idNeeds, "allowanceRequirements": idAllow, "allowances": idAllow, "overrides": idOver,
		"interface": idInterface,
	}[path]
}

// overrideRow maps a member of an assumed state to its row.
func (s *Screen) overrideRow(i int, rest string) string {
	if key, ok := strings.CutPrefix(rest, "stateDiff."); ok {
		for k, x := range s.b.over[i].slots {
			if word, ok := wordOf(x.key.Value()); ok && strings.EqualFold(word, key) {
				return idSlot(i, k, "value")
			}
		}
		return idOverRow(i, "add")
	}
	if rest == "balance" || rest == "code" {
		return idOverRow(i, rest)
	}
	return idOverRow(i, "address")
}

// exchangeRow maps a path of a quote request, or of an intent's file, to the row of a transfer or a swap that holds it.
func (s *Screen) exchangeRow(path string) string {
	switch path {
	case "slippageTolerance", "slippageBps":
		return s.slipID()
	case "pay.amount", "from.amount":
		return idAmount
	case "receive.minimum":
		return idMin
	case "interface":
		return idInterface
	case "kind":
		return idReceive
	}
	for _, p := range []struct{ prefix, id string }{
		{"pay", idPay}, {"from.asset", idPay}, {"receive.account", idTarget}, {"to.account", idTarget},
		{"receive", idReceive}, {"to.asset", idReceive},
	} {
		if rest, ok := strings.CutPrefix(path, p.prefix); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return p.id
		}
	}
	return ""
}

// indexed reads the index and what follows it out of a path such as calls[3].to.
func indexed(path, name string, i *int, rest *string) bool {
	body, ok := strings.CutPrefix(path, name+"[")
	if !ok {
		return false
	}
	number, after, ok := strings.Cut(body, "]")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 0 || after != "" && after[0] != '.' {
		return false
	}
	*i, *rest = n, strings.TrimPrefix(after, ".")
	return true
}
