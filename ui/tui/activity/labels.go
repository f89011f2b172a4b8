package activity

import (
	"strings"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/present"
	"coffer/ui/tui/theme"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// standing is the state of an operation in words: one for the list, its meaning, and an explanation in a sentence or
// two.
type standing struct {
	word     string
	meaning  theme.Meaning
	sentence string
}

// stateOf puts the state of an operation into words. Every status of the interface has its own words; an unknown status
// is named.
func stateOf(s flow.Snapshot) standing {
	if x, ok := sentOnce(s); ok {
		return x
	}
	switch s.State {
	case flow.StateDraft, flow.StatePreparing:
		return standing{"being prepared", theme.None,
			"The service is asked to prepare the operation. Nothing is signed."}
	case flow.StateReview1:
		return standing{"waits for review 1", theme.Warn, "Nothing is signed. It goes on when you review it."}
	case flow.StateRefused:
		return standing{"refused", theme.Danger, "Coffer refused the answer of the service."}
	case flow.StateQuoting:
		if exchange(s) {
			return quotingExchange(s)
		}
		return standing{"signed, no quote yet", theme.Warn,
			"The first signature was given and can still be used. No payment is signed."}
	case flow.StateReview2:
		if exchange(s) {
			return standing{"waits for review", theme.Warn,
				"Nothing is signed for this quote. It goes on when you review it."}
		}
		return standing{"waits for review 2", theme.Warn, "The first signature was given and can still be used. No " +
			"payment is signed; it goes on when you review the costs."}
	case flow.StateSigning:
		return standing{"signing", theme.None, "The payments are being signed."}
	case flow.StateNotExecuted:
		return standing{"never ran", theme.Good,
			"The quote has expired and the service never started it: nothing was paid."}
	case flow.StateAbandoned:
		return standing{"abandoned", theme.None, "You abandoned it; it was never sent. A signature that was given is " +
			"listed under outstanding signatures until it ends."}
	case flow.StateUnknown:
		return standing{"OUTCOME UNKNOWN", theme.Unknown, unknownOutcome + "Do not build the same " + noun(s) +
			" again before that."}
	}
	return statusOf(s)
}

// sentOnce describes an operation whose earlier quote was sent and not accepted: its signatures live on, whatever is
// asked for next.
func sentOnce(s flow.Snapshot) (standing, bool) {
	if s.BodyHash == "" {
		return standing{}, false
	}
	const live = "An earlier quote was sent, and nothing shows that it was accepted; what was signed for it is " +
		"listed under outstanding signatures until it ends. "
	switch s.State {
	case flow.StateReview1:
		return standing{"waits for review 1", theme.Warn, live + "Nothing is signed of what waits now."}, true
	case flow.StateQuoting:
		return standing{"no new quote yet", theme.Warn, live + "Ask for a new quote, or abandon it."}, true
	case flow.StateReview2:
		word := "waits for review 2"
		if exchange(s) {
			word = "waits for review"
		}
		return standing{word, theme.Warn, live +
			"No payment of the new quote is signed; it goes on when you review it."}, true
	case flow.StateAbandoned:
		return standing{"abandoned", theme.None, "You abandoned it. " + live}, true
	}
	return standing{}, false
}

// exchange reports a swap or a transfer.
func exchange(s flow.Snapshot) bool {
	return s.Intent.Kind == intent.KindSwap || s.Intent.Kind == intent.KindTransfer
}

func noun(s flow.Snapshot) string {
	if exchange(s) {
		return s.Intent.Kind
	}
	return "call"
}

func quotingExchange(s flow.Snapshot) standing {
	if s.SignaturesDone == 0 {
		return standing{"no quote yet", theme.None, "The service is asked for a quote. Nothing is signed."}
	}
	return standing{"signed, not sent", theme.Warn, "An earlier quote was signed and never sent. Ask for a new " +
		"quote, or abandon it; what was signed is listed under outstanding signatures."}
}

const unknownOutcome = "The request to run this may or may not have reached the service. It is never sent again, so " +
	"it cannot run twice. " +
	"Coffer keeps asking for the status of this quote: if it ran, the steps appear here; if the quote has expired and the service does not know it, " +
	"it is closed as never run. "

// statusOf puts the service's status into words.
func statusOf(s flow.Snapshot) standing {
	done, ran, under, back, failed := "Your call ran", "your call ran", "your call has not run yet",
		"Your call did not run.", "Your call did not run"
	if exchange(s) {
		done, ran, under, back, failed = "It was delivered", "delivered", "nothing is delivered yet",
			"Nothing was delivered.", "Nothing was delivered"
	}
	settled := done + " and every payment is settled."
	switch s.Status.Status {
	case "":
		if s.State == flow.StateDone {
			return standing{"COMPLETED", theme.Good, settled}
		}
		if s.State == flow.StateFailed {
			return standing{"FAILED", theme.Danger, "It did not run."}
		}
		return standing{"sent", theme.None, "Sent. The service has not reported a status yet; Coffer asks by itself."}
	case api.StatusPending:
		return standing{"accepted", theme.None,
			"The service has accepted it and has not started yet. There is nothing to do; you may close Coffer."}
	case api.StatusInProgress:
		return standing{"under way", theme.None, "The payments are on their way; " + under +
			". There is nothing to do; you may close Coffer."}
	case api.StatusExecuted:
		if exchange(s) {
			return standing{ran, theme.Good, done + ". The payments are being settled."}
		}
		return standing{ran, theme.Good, done +
			" on the target chain. The payments on the other chains are being settled."}
	case api.StatusCompleted:
		return standing{"COMPLETED", theme.Good, settled}
	case api.StatusRefunded:
		return standing{"REFUNDED", theme.Warn, back +
			" What had been paid came back to your account, fees included. You can build it again."}
	case api.StatusFailed:
		return standing{"FAILED", theme.Danger, failed +
			" and no payment arrived: nothing left your account. You can build it again."}
	}
	return standing{verify.Status(s.Status.Status).Text, theme.Unknown, "The service reports a status that Coffer " +
		"does not know. It is taken as not ended: do not build the same again before it ends. The support bundle (b) helps to ask the operator."}
}

// what describes an operation in a phrase: "transfer on Base", "3 calls on Base", "swap USDC for ETH", "transfer USDC
// to Base".
func what(c *catalog.Catalog, s flow.Snapshot) string {
	if d := s.Intent; exchange(s) && d.Pay != nil && d.Receive != nil {
		pays := present.AssetName(c, d.Pay.Asset)
		if d.Kind == intent.KindSwap {
			return "swap " + pays + " for " + present.AssetName(c, d.Receive.Asset)
		}
		to := "transfer " + pays
		if a, err := caip.ParseAccount(d.Receive.Account); err == nil {
			to += " to " + present.ChainName(c, a.Chain.String())
		}
		return to
	}
	where := present.ChainName(c, s.Intent.TargetChain)
	if n := len(s.Intent.Calls); n != 1 {
		return present.Plural(n, "call", "calls") + " on " + where
	}
	name, _, found := strings.Cut(s.Intent.Calls[0].Function, "(")
	if !found || name == "" {
		name = "call"
	}
	return present.Clean(name, 40) + " on " + where
}
