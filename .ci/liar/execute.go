package liar

import (
	"context"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"coffer/api"
)

// standing is what the attacker says about a quote, whatever happens to it.
type standing string

// The standings.
const (
	honestly  standing = ""
	completed standing = "COMPLETED though nothing ran"
	refunded  standing = "REFUNDED though it was held"
	failed    standing = "FAILED though it was held"
	pending   standing = "PENDING for ever"
	nothing   standing = "{} for ever"
	another   standing = "another quote's record"
	stepsBack standing = "steps back"
	odd       standing = "an unknown status"
	silent    standing = "no answer"
)

// executes decides about a request to execute.
func (a *Attacker) executes(x exchange) exchange {
	var q struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(x.body, &q)
	id := strings.ToLower(q.ID)
	if a.dice.chance(a.manner.told) {
		a.stands[id] = pick(a.dice, []standing{completed, refunded, refunded, failed, pending, nothing, another,
			stepsBack, odd, silent})
	}
	switch {
	case a.forged[id] && !a.embedded: // the genuine service would not know it
		return a.hold(x, id)
	case !a.dice.chance(a.manner.execute):
		return a.genuine(x)
	}
	if a.dice.chance(65) {
		return a.hold(x, id)
	}
	done := a.genuine(x)
	if !done.succeeded() {
		return done
	}
	return a.denies(done, "execute: run, and ")
}

// hold keeps the request and answers what it likes.
func (a *Attacker) hold(x exchange, id string) exchange {
	a.held = append(a.held, x)
	if a.dice.chance(55) {
		a.tell("execute: held, told accepted")
		if a.stands[id] == honestly {
			a.stands[id] = pick(a.dice, []standing{completed, refunded, refunded, failed, pending})
		}
		return x.says(http.StatusOK, api.ExecuteResponse{Success: true})
	}
	x = a.denies(x, "execute: held, and ")
	if a.house != nil && a.dice.chance(40) {
		a.tell("execute: (and cashed out at once)")
		a.CashOut()
	}
	return x
}

// denies answers something else than that the quote was accepted.
func (a *Attacker) denies(x exchange, what string) exchange {
	switch a.dice.IntN(7) {
	case 0:
		a.tell(what + "refused")
		return x.refuses(http.StatusBadRequest, pick(a.dice,
			[]string{api.ErrInsufficientBalance, api.ErrPrepareAgain, api.ErrNoRoute, api.ErrQuoteExpired}))
	case 1:
		a.tell(what + "an error of the server")
		return x.refuses(pick(a.dice, []int{500, 502, 503, 504, 408, 429}), "Internal")
	case 2:
		a.tell(what + "the connection breaks")
		x.fault = errCut
	case 3:
		a.tell(what + "no answer in time")
		x.fault = context.DeadlineExceeded
	case 4:
		a.tell(what + "success:false")
		why := "later"
		return x.says(http.StatusOK, api.ExecuteResponse{Error: &why})
	case 5:
		a.tell(what + "said to be executed before")
		return x.refuses(http.StatusConflict, api.ErrAlreadyExecuted)
	default:
		a.tell(what + "an answer of nonsense")
		x = x.says(http.StatusOK, api.ExecuteResponse{})
		x.raw = pick(a.dice, [][]byte{[]byte(`{}`), []byte(`null`), []byte(`[]`), []byte(`{"success":"true"}`),
			[]byte(`{"success":true,"success":false}`), {}})
	}
	return x
}

// tells answers a question about a quote.
func (a *Attacker) tells(x exchange) exchange {
	id := x.req.URL.Query().Get("quoteId")
	how := a.stands[strings.ToLower(id)]
	if how == honestly {
		if a.dice.chance(a.manner.told / 8) {
			return a.spoiled(a.genuine(x))
		}
		return a.genuine(x)
	}
	a.tell("status: " + string(how))
	status := func(word string) exchange {
		return x.says(http.StatusOK, api.ExecutionStatus{QuoteID: id, Status: word,
			OriginChainOperations: []api.OperationRef{}, FailReason: reasonOf(word)})
	}
	switch how {
	case completed:
		return status(api.StatusCompleted)
	case refunded:
		return status(api.StatusRefunded)
	case failed:
		return status(api.StatusFailed)
	case pending:
		return status(pick(a.dice, []string{api.StatusPending, api.StatusInProgress}))
	case stepsBack:
		return status(pick(a.dice, []string{api.StatusPending, api.StatusInProgress, api.StatusExecuted}))
	case nothing:
		return x.says(http.StatusOK, api.ExecutionStatus{})
	case odd:
		return status(pick(a.dice, []string{"DONE", "completed", "REVERSED", "COMPLETED ", "", "0"}))
	case another:
		return a.anotherStatus(x)
	}
	x.fault = errCut
	return x
}

func reasonOf(status string) string {
	if status == api.StatusRefunded || status == api.StatusFailed {
		return "SLIPPAGE"
	}
	return ""
}

// anotherStatus is a genuine answer about another quote.
func (a *Attacker) anotherStatus(x exchange) exchange {
	if list := a.past.answers[Status]; len(list) > 0 {
		y := pick(a.dice, list)
		x.status, x.header, x.raw = y.status, y.header, y.raw
		return x
	}
	return x.says(http.StatusOK, api.ExecutionStatus{QuoteID: "0x" + strings.Repeat("3", 64),
		Status: api.StatusCompleted})
}
