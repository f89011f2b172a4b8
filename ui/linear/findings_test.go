package linear

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/secret"
	"coffer/ui/present"
	"coffer/wallet/intent"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// TestL9_AnEmptyLineGoesBackOneStep: in every form, and what was answered before stays until it is answered anew.
func TestL9_AnEmptyLineGoesBackOneStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t).begins()
		r.wants(r.types("4", "2", "1", "90", "5", ""), "On which chain does it arrive?")
		r.wants(r.types(""), "How much USDC?")
		r.wants(r.types(""), "From where?")
		r.wants(r.types("1", "80", "5", "alice"), "Transfer: you pay 80 USDC")
		r.wants(r.types("", "yes"), "Type a number from 1 to 11")
		r.wants(r.types("3", "5", "usdc", "transfer(address to, uint256 amount)", "alice", ""), "Argument 1, to")
		r.wants(r.types(""), "Which function?")
		r.wants(r.types(""), "Which contract is called on Base?")
		r.wants(r.types(""), "On which chain does the call run?")
		r.wants(r.types(""), "Type a number from 1 to 11")
		said := r.types("") // at the main menu: the question alone, not the list
		if r.wants(said, "Type a number from 1 to 11"); strings.Contains(said, "1. Balances") {
			t.Error(said)
		}
		r.wants(r.types("?"), "1. Balances")
		if err := r.ends(); err != nil || len(r.started) > 0 {
			t.Errorf("%v, %d started", err, len(r.started))
		}
	})
}

// TestL9_WordsChooseLikeNumbers: by their unique beginning; a word of several choices names them, and a number is
// always the same choice.
func TestL9_WordsChooseLikeNumbers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t).begins()
		r.wants(r.types("transfer"), "Which asset do you transfer?")
		r.wants(r.types("usdc", "all", "1200 USDC"), "On which chain does it arrive?")
		r.wants(r.types("b"), "\"b\" can mean more than one choice: 3 or 5.")
		r.wants(r.types("base"), "Who gets it on Base? Type an address or a name of your address book")
		r.wants(r.types("alice", "review"), "Review of the transfer")
		d := r.started[0].Draft()
		if d.Kind != intent.KindTransfer || d.Pay.Amount != "1200000000" ||
			d.Receive.Asset != caip.ERC20(8453, addressOf(usdc)).String() {
			t.Errorf("%+v %+v", d.Pay, d.Receive)
		}
		r.wants(r.types("xyz"), "\"xyz\" is not one of the choices")
		if err := r.ends(); err != nil {
			t.Error(err)
		}
	})
}

// TestL9_TheMainMenuIsSaidOnce: a question mark repeats it.
func TestL9_TheMainMenuIsSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t).begins()
		if said := r.types("accounts"); strings.Contains(said, "1. Balances") ||
			!strings.Contains(said, "What do you") {
			t.Error(said)
		}
		r.wants(r.types("?"), "1. Balances", "11. Quit")
		r.wants(r.types("doctor"), "coffer doctor --profile demo", "coffer config show", "coffer export", "coffer keys",
			"coffer lab")
		if err := r.ends(); err != nil {
			t.Error(err)
		}
	})
}

// TestL9_PastedLinesDoNotRunThroughMenus: of lines that a person pastes the first is an answer, and the others are
// dropped, which is said. Of a program's output every line is an answer.
func TestL9_PastedLinesDoNotRunThroughMenus(t *testing.T) {
	for terminal, want := range map[bool]string{true: "was dropped", false: "On which chain does it arrive?"} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			r.opts.Terminal = terminal
			r.begins()
			time.Sleep(time.Second)
			r.wants(r.atOnce("4", "2", "1", "90"), want)
			if terminal {
				r.wants(r.types("2"), "From where?") // the hand goes on where the paste was stopped
			}
			if err := r.ends(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestL9_AMistypedConfirmationSaysWhatWasExpected: and is asked again, with nothing signed meanwhile.
func TestL9_AMistypedConfirmationSaysWhatWasExpected(t *testing.T) {
	said, op := inFrontOf(t, amountAt, func(r *rig) string {
		said := r.types("205.98")
		r.wants(r.types("250.98"), "")
		return said
	})
	if !strings.Contains(flat(said), `You typed "205.98", expected 250. Nothing was signed. Try again`) ||
		op.executes != 1 {
		t.Errorf("%d executed\n%s", op.executes, said)
	}
}

// TestL9_WithoutAnAddressBookNoneIsNamed: and on Solana an EVM contact is none either.
func TestL9_WithoutAnAddressBookNoneIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.opts.Deps.Book = nil
		r.begins()
		said := r.types("4", "2", "1", "90", "base")
		if r.wants(said, "Type an address:"); strings.Contains(said, "address book") {
			t.Error(said)
		}
		said = r.types(payee, "", "yes", "3", "5", payee, "f(address a)")
		if r.wants(said, "the symbol of a token there:"); strings.Contains(said, "address book") {
			t.Error(said)
		}
		if err := r.ends(); err != nil {
			t.Error(err)
		}
	})
}

// TestL9_LeavingThePassphraseIsSaidInWords: ctrl+c at the question for it.
func TestL9_LeavingThePassphraseIsSaidInWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.opts.Deps.Locked = func() bool { return true }
		r.opts.Deps.Unlock = func(context.Context, secret.Secret) error { return nil }
		r.opts.Deps.Secret = func(context.Context, string) (secret.Secret, error) { return secret.Secret{}, ErrLeft }
		r.begins()
		r.types(callScript()[:yesAt-1]...)
		r.wants(r.types("1"), "No passphrase: you left the question. Nothing was signed.")
		if err := r.ends(); err != nil || r.op.signs > 0 {
			t.Errorf("%v, %d signed", err, r.op.signs)
		}
	})
}

// TestReceiveAsksForAnAmount: a payment request in one piece, to the account on the chain that was named.
func TestReceiveAsksForAnAmount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t).begins()
		r.wants(r.types("receive", "1"), "To ask for a payment, type amount, asset and chain")
		r.wants(r.types("25 usdc"), "ay on which chain, such as usdc on")
		said := r.types("25 usdc on base")
		r.wants(said, "Payment request: 25 USDC on Base, to your account")
		if link := "\nethereum:" + usdc + "@8453/transfer?address=" + present.Checksummed(account) +
			"&uint256=25000000\n"; !strings.Contains(said, link) {
			t.Errorf("not in one piece:\n%s", said)
		}
		r.wants(said, "Warning: These chains live inside this program.")
		if err := r.ends(); err != nil {
			t.Error(err)
		}
	})
}

// TestL9_ALongNonceIsSaidShort: by its length and end, and whole on request.
func TestL9_ALongNonceIsSaidShort(t *testing.T) {
	const nonce = "913479994650515257524606220465835134743662536739504622017003723935449088"
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		sig := journal.Signature{Role: verify.RolePrepared, Kind: api.AccountKernelV31, Chain: "eip155:8453",
			Sender: account, Nonce: nonce, OpHash: hash(3), ValidUntil: utc().Add(time.Minute).Unix()}
		r.live = []journal.Outstanding{{Op: "op1", Signature: sig, Void: "It expires, or as soon as another " +
			"operation of this account uses nonce " + nonce + " on eip155:8453."}}
		r.begins()
		said := r.types("activity", "s")
		r.wants(said, "nonce: 72 digits, ending in 9088")
		r.wants(said, "uses this nonce on Base")
		if strings.Contains(strings.ReplaceAll(flat(said), " ", ""), nonce) {
			t.Errorf("the nonce is said in full:\n%s", said)
		}
		if said = r.types("nonces"); !strings.Contains(strings.ReplaceAll(flat(said), " ", ""), nonce) {
			t.Errorf("the nonce is not said on request:\n%s", said)
		}
		if err := r.ends(); err != nil {
			t.Error(err)
		}
	})
}
