package setup

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/ethereum/go-ethereum/common"
	"github.com/mr-tron/base58"

	"coffer/api"
	"coffer/api/network"
	"coffer/config"
	"coffer/ui/doctor"
	"coffer/ui/present"
	"coffer/ui/profile"
	"coffer/ui/tui/internal/job"
	"coffer/ui/tui/kit"
	"coffer/wallet/vault"
)

func TestTheWalkEndsInAProfile(t *testing.T) {
	w := newWalk(t)
	w.throughAccounts()
	if len(w.f.given) > 0 {
		t.Fatal("something was written before the end")
	}
	w.picks(defaultGroup, yes)
	keys := slices.Clone(w.m.keys)
	w.goesOn()
	w.at(stepDone)
	p := w.f.made[0]
	if p.Name != "mine" || p.Kind != network.Lab || p.BaseURL != "https://lab.invalid:8443/api" ||
		p.NetworkID != w.f.n.ID || p.NetworkFile != "/data/serve/network.json" ||
		p.Vault != config.VaultFile || len(p.Accounts) != 2 || p.Accounts[0].SignerAddress == "" ||
		p.Accounts[1].Type != api.AccountSolana || !w.f.given[0].Default {
		t.Errorf("%+v", p)
	}
	if string(w.f.secrets[0]) != walkAPIKey || string(w.f.secrets[1]) != walkPass || len(w.f.secrets) != 4 {
		t.Error("not what was typed was stored")
	}
	w.keys("enter")
	if !w.quit || w.m.result != "mine" {
		t.Errorf("quit %v, result %q", w.quit, w.m.result)
	}
	for _, k := range keys {
		if !bytes.Equal(k.Key.Reveal(), make([]byte, len(k.Key.Reveal()))) {
			t.Error("a key was not wiped")
		}
	}
	for _, g := range w.f.given {
		if bytes.ContainsFunc(g.APIKey.Reveal(), func(r rune) bool { return r != 0 }) ||
			bytes.ContainsFunc(g.Passphrase.Reveal(), func(r rune) bool { return r != 0 }) {
			t.Error("a plan was not wiped")
		}
	}
	for _, s := range []string{walkAPIKey, walkPass, "seven", "of_the_walk"} {
		if strings.Contains(w.seen.String(), s) {
			t.Errorf("%q was drawn", s)
		}
	}
}

// TestD7_TheFirstChoiceIsOnesOwnKeysInsideThisProgram: without a service, an API key or a check, and the address of the
// account is on the screen before anything is written.
func TestD7_TheFirstChoiceIsOnesOwnKeysInsideThisProgram(t *testing.T) {
	w := newWalk(t)
	w.line("own")
	if !strings.Contains(w.screen(), "(*) my own, inside this program") {
		t.Fatal(w.screen())
	}
	w.goesOn()
	w.at(stepStore)
	w.to(storeGroup + "=" + config.VaultMemory)
	w.keys("enter")
	if w.m.picks[storeGroup] == config.VaultMemory {
		t.Error("the demo was set up once more")
	}
	w.picks(storeGroup, config.VaultFile)
	w.to(rowPass)
	w.line(walkPass)
	w.line(walkPass)
	w.goesOn()
	w.at(stepOwn)
	if !strings.Contains(w.screen(), "step 3 of 4") {
		t.Error(w.screen())
	}
	w.picks(ownGroup, ownNew)
	w.goesOn()
	w.picks(evmGroup, api.AccountKernelV31)
	w.goesOn()
	w.at(stepSummary)
	account := present.Address(w.m.draft().WireAccounts(w.m.net.Pins)[0].AccountAddress)
	if screen := w.screen(); !strings.Contains(screen, account) || strings.Contains(screen, "service") {
		t.Errorf("%s\n%s", account, screen)
	}
	for range 4 { // back to the name and forth again: everything stays
		w.keys("esc")
	}
	w.at(stepName)
	for range 4 {
		w.goesOn()
	}
	w.picks(defaultGroup, yes)
	w.goesOn()
	w.at(stepDone)
	if p := w.f.made[0]; p.Kind != network.Embedded || p.BaseURL != "" || p.NetworkID != "" || len(p.Accounts) != 1 ||
		!w.f.given[0].APIKey.Empty() || len(w.f.given[0].Keys) != 1 {
		t.Errorf("%+v", p)
	}
}

// TestOwnNodesAreTriedBeforeAnythingIsChosen: what the nodes ask for stays unseen and reaches them alone, nothing goes
// on where something is missing, and real money takes a typed sentence.
func TestOwnNodesAreTriedBeforeAnythingIsChosen(t *testing.T) {
	w := onNodes(t)
	w.line("mine")
	w.picks(placeGroup, placeNodes)
	w.f.nodesErr = errors.New("networks.toml:3: unknown key. Remove it")
	w.goesOn()
	w.at(stepNodes)
	w.goesOn()
	if !strings.Contains(w.screen(), "unknown key. Remove it") {
		t.Error(w.screen())
	}
	w.f.nodesErr = nil
	w.goesOn()
	w.at(stepNodes)
	w.goesOn()
	w.at(stepNodes) // the key is missing
	if !strings.Contains(w.screen(), "it is sent to https://node.example") {
		t.Error(w.screen())
	}
	w.to(nodeKeyRow(0))
	w.types(walkNodeKey)
	w.goesOn()
	w.at(stepFound)
	if got := w.f.nodeKeys; len(got) != 1 || got[0] != "https://node.example gets "+walkNodeKey {
		t.Errorf("%v", got)
	}
	w.goesOn()
	w.at(stepFound) // the paymaster is missing
	w.f.found = []doctor.Finding{{Area: "Base", Name: "everything"}}
	w.to(rowAgainCheck)
	w.keys("enter")
	w.give(tea.PasteMsg{Content: profile.RealSentence})
	w.goesOn()
	w.at(stepFound)
	w.to(rowReal)
	w.types(profile.RealSentence)
	w.goesOn()
	w.at(stepStore)
	w.to(storeGroup + "=" + config.VaultMemory)
	w.keys("enter")
	if w.m.picks[storeGroup] == config.VaultMemory {
		t.Error("own nodes without a vault")
	}
	w.picks(storeGroup, config.VaultKeyringOnly)
	w.goesOn()
	w.to(ownGroup + "=" + ownBoth)
	w.keys("enter")
	if w.m.picks[ownGroup] == ownBoth {
		t.Error("a key for Solana")
	}
	w.picks(ownGroup, ownTyped)
	w.to(rowKeyText)
	solana, err := profile.NewKeys(&chain{}, vault.Solana)
	if err != nil {
		t.Fatal(err)
	}
	w.give(tea.PasteMsg{Content: base58.Encode(solana[0].Key.Reveal())})
	w.goesOn()
	w.at(stepOwn)
	if !strings.Contains(w.screen(), "a key for Solana") || len(w.m.keys) > 0 {
		t.Error(w.screen())
	}
	w.picks(ownGroup, ownNew)
	w.goesOn()
	w.picks(evmGroup, api.AccountKernelV31)
	w.goesOn()
	w.at(stepSummary)
	w.picks(defaultGroup, no)
	w.goesOn()
	w.at(stepDone)
	p := w.f.made[0]
	if p.Kind != network.Real || p.Networks != "/home/me/networks.toml" || p.NetworkID != w.f.n.ID || p.BaseURL != "" ||
		len(p.Accounts) != 1 || !strings.Contains(w.screen(), "good for about 160 operations") {
		t.Errorf("%+v\n%s", p, w.screen())
	}
	if strings.Contains(w.seen.String(), walkNodeKey) {
		t.Error("the key of the node was drawn")
	}
	for _, g := range w.f.given {
		for _, k := range g.NodeKeys {
			if bytes.ContainsFunc(k.Reveal(), func(r rune) bool { return r != 0 }) {
				t.Error("the key of the node was not wiped")
			}
		}
	}
}

// TestHelpOpensFromEveryRow: F1 everywhere, the question mark where nothing is typed.
func TestHelpOpensFromEveryRow(t *testing.T) {
	w := newWalk(t)
	w.types("a?")
	if w.m.help || w.m.fields[rowName].Value() != "a?" {
		t.Fatal(w.screen())
	}
	w.keys("f1")
	if !strings.Contains(w.screen(), "Keys of the set-up") {
		t.Fatal(w.screen())
	}
	w.keys("t")
	if !strings.Contains(w.screen(), "Terms") || !strings.Contains(w.screen(), present.Terms()[0].Name) {
		t.Error(w.screen())
	}
	w.keys("esc", "down", "?")
	if !w.m.help {
		t.Error(w.screen())
	}
	w.keys("?")
	if w.m.help || w.m.step != stepName {
		t.Error(w.screen())
	}
}

func TestGoingBackKeepsWhatWasEntered(t *testing.T) {
	w := newWalk(t)
	w.throughAccounts()
	keys := w.m.keysFor
	first := w.m.keys[0].Address
	steps := w.m.walk()[:slices.Index(w.m.walk(), stepSummary)]
	w.at(stepSummary)
	for _, s := range slices.Backward(steps) {
		w.keys("esc")
		w.at(s)
	}
	for _, s := range steps {
		w.at(s)
		w.goesOn()
	}
	w.at(stepSummary)
	if w.m.keysFor != keys || w.m.keys[0].Address != first {
		t.Error("another key was made")
	}
	if got := w.m.draft(); len(got.Accounts) != 2 || got.Accounts[0].SignerAddress != common.HexToAddress(first).Hex() {
		t.Errorf("%+v", got)
	}
	w.picks(defaultGroup, no)
	w.goesOn()
	if w.f.given[0].Default || string(w.f.secrets[0]) != walkAPIKey || string(w.f.secrets[1]) != walkPass {
		t.Error("not what was typed was stored")
	}
}

func TestLeavingIsAskedForTwiceAndWritesNothing(t *testing.T) {
	w := newWalk(t)
	w.keys("esc")
	if w.quit || !strings.Contains(w.screen(), "press esc again") {
		t.Fatal(w.screen())
	}
	w.now = w.now.Add(time.Minute)
	w.keys("esc")
	if w.quit {
		t.Fatal("a question of a minute ago was answered")
	}
	w.keys("esc")
	if !w.quit || w.m.result != "" || len(w.f.given) > 0 {
		t.Errorf("quit %v, result %q", w.quit, w.m.result)
	}
	half := newWalk(t)
	half.throughAccounts()
	half.keys("ctrl+c")
	if !half.quit || half.m.result != "" || len(half.f.given) > 0 || half.m.hasSecrets() {
		t.Errorf("quit %v, result %q, secrets %v", half.quit, half.m.result, half.m.hasSecrets())
	}
}

func TestASuspendedSetUpForgetsItsSecrets(t *testing.T) {
	w := newWalk(t)
	w.throughAccounts()
	key := w.m.keys[0].Key
	_, cmd := w.m.Update(job.SuspendMsg{})
	if cmd != nil {
		t.Fatal("without a shell above nothing is stopped")
	}
	if w.m.hasSecrets() || !bytes.Equal(key.Reveal(), make([]byte, 32)) {
		t.Error("secrets stayed")
	}
	w.at(stepAPIKey)
	if !strings.Contains(w.screen(), "were wiped") {
		t.Error(w.screen())
	}
	if w.goesOn(); w.m.step != stepAPIKey {
		t.Error("it went on without the API key")
	}
}

func TestTheFingerprintIsTheOperatorsOrNothingGoesOn(t *testing.T) {
	w := newWalk(t)
	w.line("mine")
	w.picks(placeGroup, placeService)
	w.goesOn()
	w.line("https://lab.invalid/api")
	w.goesOn()
	w.at(stepService)
	if !strings.Contains(w.screen(), "type the fingerprint") {
		t.Error(w.screen())
	}
	w.to(rowNetwork)
	w.types("/tmp/network.json")
	w.keys("down")
	if s := w.screen(); !strings.Contains(s, "2 chains") || strings.Contains(s, w.f.n.Fingerprint()) {
		t.Errorf("the file is shown, its fingerprint is not:\n%s", s)
	}
	for _, typed := range []string{"", "1234 5678", strings.Repeat("0", 32)} {
		w.to(rowFingerprint)
		w.m.fields[rowFingerprint].Set(typed)
		w.goesOn()
		w.at(stepService)
		if w.m.wrong[rowFingerprint] == "" {
			t.Errorf("%q was taken", typed)
		}
	}
	w.m.fields[rowFingerprint].Set(strings.ToUpper(strings.ReplaceAll(w.f.n.Fingerprint(), " ", "")))
	w.goesOn()
	w.at(stepAPIKey)
}

func TestWhatIsWrongStandsAtItsRow(t *testing.T) {
	w := newWalk(t)
	for name, problem := range map[string]string{"team": "such a profile already", "Über": "lower-case letters",
		"": "lower-case letters"} {
		w.m.fields[rowName].Set(name)
		w.goesOn()
		w.at(stepName)
		if !strings.Contains(w.m.wrong[rowName], problem) {
			t.Errorf("%q: %q", name, w.m.wrong[rowName])
		}
	}
	w.m.fields[rowName].Set("mine")
	w.picks(placeGroup, placeService)
	w.goesOn()
	w.m.fields[rowURL].Set("http://lab.invalid")
	w.m.fields[rowCA].Set("/no/such/ca.pem")
	w.f.findErr = profile.ErrNoNetworkFile
	w.m.fields[rowFingerprint].Set(w.f.n.Fingerprint())
	w.goesOn()
	w.at(stepService)
	for row, part := range map[string]string{rowURL: "https", rowCA: "no such file", rowNetwork: "ask the operator"} {
		if !strings.Contains(w.m.wrong[row], part) {
			t.Errorf("%s: %q", row, w.m.wrong[row])
		}
	}
}

func TestThePlaceOfKeysIsChosenAndTried(t *testing.T) {
	w := newWalk(t)
	w.throughService()
	w.goesOn()
	if w.at(stepAPIKey); w.m.wrong[rowAPIKey] == "" {
		t.Error("no API key was taken")
	}
	w.to(rowAPIKey)
	w.types("a b")
	if w.goesOn(); w.m.wrong[rowAPIKey] == "" {
		t.Error("an API key with a blank was taken")
	}
	w.to(rowAPIKey)
	w.keys("ctrl+u")
	w.line(walkAPIKey)
	w.goesOn()
	w.at(stepStore)
	w.goesOn()
	if w.at(stepStore); !strings.Contains(w.screen(), "nothing is chosen for you") {
		t.Error(w.screen())
	}
	w.picks(storeGroup, config.VaultKeyringOnly)
	w.f.probeErr = &vault.KeyringError{State: vault.StateNoBus, Advice: "use the file."}
	w.goesOn()
	if w.at(stepStore); !strings.Contains(w.screen(), "no D-Bus session") {
		t.Error(w.screen())
	}
	w.f.probeErr = nil
	w.goesOn()
	w.at(stepOwn)
	if w.f.probes != 2 {
		t.Errorf("%d probes", w.f.probes)
	}
	w.keys("esc")
	w.picks(storeGroup, config.VaultFile)
	w.to(rowPass)
	w.line("short")
	w.line("short")
	if w.goesOn(); w.m.wrong[rowPass] == "" {
		t.Error("a short passphrase was taken")
	}
	w.to(rowPass)
	w.keys("ctrl+u")
	w.line(walkPass)
	if w.goesOn(); w.m.wrong[rowAgain] == "" {
		t.Error("two different passphrases were taken")
	}
	w.at(stepStore)
}

func TestAProfileThatKeepsNothingOnlyWatches(t *testing.T) {
	w := newWalk(t)
	w.throughService()
	w.line(walkAPIKey)
	w.goesOn()
	w.picks(storeGroup, config.VaultMemory)
	w.goesOn()
	w.at(stepOwn)
	if w.picks(ownGroup, ownNew); w.m.picks[ownGroup] != "" {
		t.Error("a key was chosen without a place for it")
	}
	w.picks(ownGroup, ownWatch)
	w.goesOn()
	w.at(stepAccounts)
	w.picks(evmGroup, api.AccountKernelV33)
	w.to(rowSigner)
	w.types(strings.ToLower("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"))
	w.goesOn()
	w.goesOn()
	w.picks(defaultGroup, no)
	w.goesOn()
	w.at(stepDone)
	if p := w.f.made[0]; p.Vault != config.VaultMemory ||
		p.Accounts[0].SignerAddress != "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266" ||
		p.Accounts[0].DeploymentType != api.DeploymentEIP7702 {
		t.Errorf("%+v", p)
	}
	if len(w.f.given[0].Keys) > 0 || len(w.f.given[0].Passphrase.Reveal()) > 0 {
		t.Error("there was something to keep")
	}
}

func TestKeysAreBroughtFromAFileOrUnseen(t *testing.T) {
	const hex = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318"
	const address = "0x2c7536e3605d9c16a7a3d7b1898e529396a65c23"
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("0x"+hex+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	w := newWalk(t)
	w.throughStore()
	w.picks(ownGroup, ownFile)
	w.m.fields[rowKeyFile].Set(file)
	w.goesOn()
	if w.at(stepOwn); !strings.Contains(w.m.wrong[rowKeyFile], "chmod 600") {
		t.Errorf("a file that others may read: %q", w.m.wrong[rowKeyFile])
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	w.goesOn()
	w.at(stepAccounts)
	if w.m.keys[0].Address != address || !strings.EqualFold(w.m.value(rowSigner), address) {
		t.Errorf("%s, %s", w.m.keys[0].Address, w.m.value(rowSigner))
	}
	w.keys("esc")
	w.picks(ownGroup, ownTyped)
	w.to(rowKeyText)
	w.give(tea.PasteMsg{
		Content: "abandon abandon abandon abandon abandon abandon\nabandon abandon abandon abandon abandon about\n"})
	w.at(stepOwn)
	w.goesOn()
	w.at(stepAccounts)
	if len(w.m.keys) != 2 || !w.m.secrets[rowKeyText].Empty() {
		t.Errorf("%d keys", len(w.m.keys))
	}
	if !strings.EqualFold(w.m.value(rowSigner), w.m.keys[0].Address) {
		t.Error("the account is still that of the key before")
	}
	if strings.Contains(w.seen.String(), "abandon") || strings.Contains(w.seen.String(), hex[:12]) {
		t.Error("a key was drawn")
	}
}

func TestAServiceWithOtherAddressesIsNotGoneOnWith(t *testing.T) {
	w := newWalk(t)
	w.throughStore()
	w.picks(ownGroup, ownNew)
	w.goesOn()
	w.goesOn()
	if w.at(stepAccounts); !strings.Contains(w.screen(), "choose one") {
		t.Error(w.screen())
	}
	w.picks(evmGroup, api.AccountRoleBased)
	w.to(rowAdmin)
	w.types(w.m.value(rowSession))
	w.goesOn()
	if w.at(stepAccounts); !strings.Contains(w.m.wrong[rowSession], "must differ") {
		t.Errorf("%q", w.m.wrong)
	}
	w.m.fields[rowAdmin].Set("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
	w.f.lie = true
	w.goesOn()
	if w.at(stepAccounts); !strings.Contains(w.m.note.text, "do not use this account") {
		t.Error(w.m.note.text)
	}
	w.f.lie, w.f.compErr = false, api.NewError(api.ErrUnauthorized, "no")
	w.goesOn()
	if w.at(stepAccounts); !strings.Contains(w.m.note.text, "does not accept the API key") {
		t.Error(w.m.note.text)
	}
	w.f.compErr = nil
	w.f.found = []doctor.Finding{{Name: "clock", Level: doctor.Bad, Text: "1m0s ahead"}}
	w.goesOn()
	w.at(stepCheck)
	w.goesOn()
	w.at(stepCheck)
	w.f.found = []doctor.Finding{{Name: "clock", Level: doctor.Warn, Text: "7s ahead"}}
	w.to(rowAgainCheck)
	w.keys("enter")
	w.goesOn()
	w.at(stepSummary)
}

func TestAFailedWriteIsSaidAndCanBeTriedAgain(t *testing.T) {
	w := newWalk(t)
	w.f.others = []string{"team"}
	w.throughAccounts()
	w.m.h = 60
	if s := w.screen(); !strings.Contains(s, "Each profile has its own") || !strings.Contains(s, w.f.n.Fingerprint()) {
		t.Error(s)
	}
	w.goesOn()
	if w.at(stepSummary); w.m.wrong[defaultGroup+"="+yes] == "" {
		t.Error("no choice about the default was asked for")
	}
	w.picks(defaultGroup, yes)
	w.f.makeErr = errors.New("no room on the disk")
	w.goesOn()
	w.at(stepSummary)
	if !strings.Contains(w.screen(), "no room on the disk") {
		t.Error(w.screen())
	}
	w.f.makeErr = nil
	w.goesOn()
	w.at(stepDone)
}

func TestAnAnswerThatNobodyWaitsForIsDropped(t *testing.T) {
	w := newWalk(t)
	w.throughStore()
	w.picks(ownGroup, ownNew)
	w.to(rowContinue)
	_, cmd := w.m.Update(kit.Press("enter"))
	if w.m.busy == "" {
		t.Fatal("nothing is under way")
	}
	msg := cmd().(steppedMsg)
	w.keys("esc")
	w.give(msg)
	if w.at(stepOwn); len(w.m.keys) > 0 || !bytes.Equal(msg.keys[0].Key.Reveal(), make([]byte, 32)) {
		t.Error("a key that nobody waits for was kept")
	}
	_, cmd = w.m.Update(kit.Press("enter"))
	w.keys("esc")
	if late := cmd().(steppedMsg); len(late.keys) > 0 {
		t.Error("a key was made for nobody")
	}
}

func TestStrengthIsToldWithoutTheWords(t *testing.T) {
	for typed, part := range map[string]string{
		"short": "a passphrase has at least 8 characters", "aaaaaaaaaaaa": "weak", "abcdefghijkl": "weak",
		"password":             "weak",
		"horse battery staple": "weak",
		"seven plain words beside the wide river": "strong", "correct horse battery staple lamp": "fair",
		"x9$Lq2!vR7#tB4&m": "strong",
	} {
		if _, words := strengthOf([]byte(typed)); !strings.HasPrefix(words, part) {
			t.Errorf("%q: %s", typed, words)
		}
	}
}

// TestD15_TheRuleOfAPassphraseHasOneText: while it is typed, when the step is left, and in the vault.
func TestD15_TheRuleOfAPassphraseHasOneText(t *testing.T) {
	w := newWalk(t)
	w.throughService()
	w.line(walkAPIKey)
	w.keys("enter")
	w.picks(storeGroup, config.VaultFile)
	w.to(rowPass)
	w.types("short")
	rule := vault.ErrWeakPassphrase.Error()
	if n := strings.Count(w.screen(), rule); n != 1 {
		t.Errorf("%d times while it is typed:\n%s", n, w.screen())
	}
	w.keys("enter")
	w.line("short")
	w.goesOn()
	if n := strings.Count(w.screen(), rule); n != 1 || strings.Count(w.screen(), "8 characters") != 1 {
		t.Errorf("%d times when the step is left:\n%s", n, w.screen())
	}
}

// TestWhyARowCannotBeChosenIsOnTheScreen: the reason is below the rows, which a small window does not show all.
func TestWhyARowCannotBeChosenIsOnTheScreen(t *testing.T) {
	w := newWalk(t)
	w.give(tea.WindowSizeMsg{Width: 80, Height: 24})
	w.line("own")
	w.goesOn()
	w.picks(storeGroup, config.VaultFile)
	w.to(rowPass)
	w.line("short")
	w.goesOn()
	for _, key := range []string{"enter", "space"} {
		w.m.note = note{}
		w.to(storeGroup + "=" + config.VaultMemory)
		w.keys(key)
		if !strings.Contains(w.screen(), "without your own key this would be the demo") {
			t.Errorf("%s:\n%s", key, w.screen())
		}
	}
}

// TestAChoiceThatWasMadeIsNoLongerAskedFor: what was wrong with none is over with any choice of the group.
func TestAChoiceThatWasMadeIsNoLongerAskedFor(t *testing.T) {
	w := newWalk(t)
	w.line("own")
	w.goesOn()
	w.picks(storeGroup, config.VaultKeyringOnly)
	w.goesOn()
	w.goesOn()
	w.at(stepOwn)
	if !strings.Contains(w.screen(), "choose one") {
		t.Fatal(w.screen())
	}
	w.picks(ownGroup, ownTyped)
	if strings.Contains(w.screen(), "choose one") {
		t.Error(w.screen())
	}
}
