package verify

import (
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/text"
	"coffer/wallet/intent"
)

// The findings about code where a call goes (TH-V7): a warning, an unknown fact, and one that is only shown.
const (
	CodeMissing = "The service says that there is no code where a call goes: it would do nothing, and coins that it " +
		"sends stay there."
	CodeUnknown = "Whether there is code where a call goes is not known."
	CodeSaid    = "Only the service says that there is code where a call goes."
	CodeNotSeen = "Your node sees no code where a call goes: it would do nothing, and coins that it sends stay there."
	CodeSeen    = "Your node sees code where a call goes."
)

// Called are the addresses to which the calls of an intent take data and which neither the catalogue nor the pins name:
// whether there is code only the chain can say. A call without data is a payment and needs none.
func (p Policy) Called(in intent.Intent) []common.Address {
	if in.IsZero() || in.Kind() != intent.KindCall {
		return nil
	}
	calls, _ := askedCalls(in.Draft())
	var out []common.Address
	for _, c := range calls {
		if len(c.Data) > 0 && p.nameOf(in.ChainID(), c.To) == "" && !slices.Contains(out, c.To) {
			out = append(out, c.To)
		}
	}
	return out
}

// called puts the calls into code that may not be there on the report. Nothing is known about it before WithCode.
func (j *judge) called() []common.Address {
	out := j.Called(j.in)
	if len(out) > 0 {
		j.put(ofCode(Unknown, CodeUnknown, out))
	}
	return out
}

func ofCode(l Level, title string, at []common.Address) Reason {
	var names []string
	for _, a := range at {
		names = append(names, a.Hex())
	}
	return Reason{Code: "V7", Level: l, Title: title, Path: "/chainOperation/userOp/callData",
		Got: text.Few(names, 3)}
}

// WithCode puts what the service says about the addresses of Called into the report of Prepared, which says that
// nothing is known about them. has is whether there is code; an address that it leaves out stays unknown. seen is the
// same as the person's own nodes see it, and goes before the service's word.
func (p *PreparedOp) WithCode(r Report, has, seen map[common.Address]bool) Report {
	out := Report{Passed: slices.Clone(r.Passed), Reasons: slices.DeleteFunc(slices.Clone(r.Reasons),
		func(x Reason) bool { return x.Code == "V7" })}
	found := map[string][]common.Address{}
	p.view.Codeless = nil
	for _, a := range p.called {
		there, known := has[a]
		own, looked := seen[a]
		title := CodeUnknown
		switch {
		case looked && own:
			title = CodeSeen
		case looked:
			title = CodeNotSeen
		case known && there:
			title = CodeSaid
		case known:
			title = CodeMissing
		}
		found[title] = append(found[title], a)
		if title == CodeNotSeen || title == CodeMissing {
			p.view.Codeless = append(p.view.Codeless, a.Hex())
		}
	}
	for _, x := range []struct {
		Level
		title string
	}{{Warn, CodeNotSeen}, {Warn, CodeMissing}, {Unknown, CodeUnknown}, {Show, CodeSaid}, {Show, CodeSeen}} {
		if at := found[x.title]; len(at) > 0 {
			out.Reasons = append(out.Reasons, ofCode(x.Level, x.title, at))
		}
	}
	return out
}
