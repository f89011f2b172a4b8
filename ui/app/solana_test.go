package app

import (
	"strings"
	"testing"

	"coffer/api"
)

// solanaKeys fill in a swap of 100 USDC for SOL, without a recipient.
func solanaKeys() []string {
	return []string{"w", "<enter>", "USDC on any chain", "<enter>", "100", "<tab>", "<enter>", "SOL on Solana",
		"<enter>"}
}

// TestD4_ASwapToSolanaNeedsASolanaAddress: without an account there every face says so before anything is sent, and L7
// names the command's flag.
func TestD4_ASwapToSolanaNeedsASolanaAddress(t *testing.T) {
	t.Parallel()
	f := newFaces(t)
	const want = "enter a Solana address: none of your accounts is on Solana"
	got, text := f.built(solanaKeys()...)
	if got != "" || !strings.Contains(text, want) || strings.Contains(text, "SOL on any chain") {
		t.Errorf("builder: %s%s", got, text)
	}
	got, text = f.told("5", "2", "1", "5", "SOL", "")
	if got != "" || !strings.Contains(text, "None of your accounts is on Solana. Who gets it on Solana? Type a Solana "+
		"address: ") {
		t.Errorf("lines: %s%s", got, text)
	}
	for _, receive := range []string{"sol", "sol@solana", "ob:sol"} {
		got, text = f.flagged("--asset", "usdc", "--amount", "5", "--for", receive)
		if got != "" || !strings.Contains(text, "--to: "+want) {
			t.Errorf("command for %s: %s%s", receive, got, text)
		}
	}
}

// TestL7_TheOwnSolanaAccountReceivesASwapToSolana: with an account there none of the faces asks, and what is received
// names no one else.
func TestL7_TheOwnSolanaAccountReceivesASwapToSolana(t *testing.T) {
	t.Parallel()
	f := newFaces(t)
	f.world.Accounts = append(f.world.Accounts, api.Account{Type: api.AccountSolana, AccountAddress: typedSolana})
	want, why := f.flagged("--asset", "usdc", "--amount", "100", "--for", "sol@solana")
	if want == "" || strings.Contains(want, `"account":"`) {
		t.Fatalf("command: %s%s", want, why)
	}
	if got, text := f.built(solanaKeys()...); got != want {
		t.Errorf("builder: %s%s", got, text)
	}
	if got, text := f.told("5", "2", "1", "100", "SOL", "1"); got != want ||
		!strings.Contains(text, "To your own Solana account.") {
		t.Errorf("lines: %s%s", got, text)
	}
}
