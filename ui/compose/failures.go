package compose

import (
	"strconv"
	"strings"

	"coffer/api"
	"coffer/ui/present"
)

// Failed puts the failures of the rules or of the service at their fields; general are those without a field, and an
// error that lists none.
func Failed(f Form, fs []api.Failure, err error) (fields map[string]string, general []string) {
	fields = map[string]string{}
	for _, x := range fs {
		text := "expected " + present.Clean(x.Expected, 200)
		switch {
		case strings.HasPrefix(x.Expected, "a call that succeeds"):
			text = "tried out, the call fails"
			if x.Got != "" {
				text += ": " + present.Clean(x.Got, 200)
			}
		case x.Got != "" && x.Got != "nothing":
			text += ", got " + present.Clean(x.Got, 100)
		}
		id := f.Field(x.Path)
		if id == "" || fields[id] != "" {
			general = append(general, present.Clean(x.String(), 400))
			continue
		}
		fields[id] = text
	}
	if len(fs) == 0 && err != nil {
		general = []string{plain(err)}
	}
	return fields, general
}

// Field maps a path of the prepare request.
func (b *Calls) Field(path string) string {
	var i int
	var rest string
	switch {
	case indexed(path, "calls", &i, &rest) && i < len(b.Calls):
		switch {
		case rest == "to":
			return IDTo(i)
		case rest == "value":
			return IDValue(i)
		case rest == "note":
			return IDNote(i)
		case b.Calls[i].Raw:
			return IDData(i)
		}
		return IDSig(i)
	case indexed(path, "tokensRequired", &i, &rest):
		if b.Own && i < len(b.Needs) {
			return IDNeed(i, map[bool]string{true: "amount", false: "asset"}[rest == "amount"])
		}
		return IDNeeds
	case (indexed(path, "allowanceRequirements", &i, &rest) || indexed(path, "allowances", &i, &rest)) &&
		i < len(b.Allow):
		switch rest {
		case "amount", "spender":
			return IDAllowance(i, rest)
		}
		return IDAllowance(i, "asset")
	case indexed(path, "overrides", &i, &rest) && i < len(b.Overrides):
		return b.overrideField(i, rest)
	}
	return map[string]string{
		"targetChain": IDChain, "fromAssetId": IDFund, "fundWith": IDFund, "slippageTolerance": b.Slip.field(),
		"slippageBps": b.Slip.field(), "validUntil": IDValid, "validAfter": IDAfter,
		"tokensRequired": IDNeeds, "allowanceRequirements": IDAllow, "allowances": IDAllow, "overrides": IDOver,
		"interface": IDInterface,
	}[path]
}

// field is the row that marks a tolerance.
func (t Choice) field() string {
	if t.Preset == OwnBps {
		return IDSlipBps
	}
	return IDSlip
}

// overrideField maps a member of an assumed state.
func (b *Calls) overrideField(i int, rest string) string {
	if key, ok := strings.CutPrefix(rest, "stateDiff."); ok {
		for k, x := range b.Overrides[i].Slots {
			if word, ok := wordOf(x.Key); ok && strings.EqualFold(word, key) {
				return IDSlot(i, k, "value")
			}
		}
		return IDOverride(i, "add")
	}
	if rest == "balance" || rest == "code" {
		return IDOverride(i, rest)
	}
	return IDOverride(i, "address")
}

// Field maps a path of a quote request, or of an intent's file.
func (x *Exchange) Field(path string) string {
	switch path {
	case "slippageTolerance", "slippageBps":
		return x.Slip.field()
	case "pay.amount", "from.amount":
		return IDAmount
	case "receive.minimum":
		return IDMin
	case "interface":
		return IDInterface
	case "kind":
		return IDReceive
	}
	for _, p := range []struct{ prefix, id string }{
		{"pay", IDPay}, {"from.asset", IDPay}, {"receive.account", IDTarget}, {"to.account", IDTarget},
		{"receive", IDReceive}, {"to.asset", IDReceive},
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
