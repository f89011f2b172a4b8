package setup

import (
	"cmp"
	"strings"

	"coffer/api"
	"coffer/api/network"
	"coffer/config"
	"coffer/ui/doctor"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
	"coffer/wallet/vault"
)

// summary describes what the set-up will write, or has written.
func (m *Model) summary(w int) []string {
	th, p := m.theme, m.draft()
	var out []string
	line := func(label string, spans ...kit.Span) {
		out = append(out, kit.Row(th, w, margin, labelW, label, spans...)...)
	}
	kind := map[network.Kind]string{network.Lab: "LAB: test chains, play money",
		network.Test:     "TEST: a public test network, whose coins are worth nothing",
		network.Real:     "REAL: real chains, real money",
		network.Embedded: "EMBEDDED: play money on chains inside this program"}[p.Kind]
	done := m.step == stepDone
	if !done {
		line("name", kit.Plain(p.Name))
		line("kind", kit.Plain(kind))
	}
	if !done && m.onNodes() {
		line("networks file", kit.Plain(present.Clean(p.Networks, 1000)))
		line("network", kit.Span{Text: m.net.Fingerprint(), Whole: true})
	}
	if !done && !m.local() {
		line("service", kit.Plain(present.Clean(p.BaseURL, 300)))
		line("network", kit.Span{Text: m.net.Fingerprint(), Whole: true})
		line("network file", kit.Plain(present.Clean(p.NetworkFile, 1000)))
		if p.CAFile != "" {
			line("CA file", kit.Plain(present.Clean(p.CAFile, 1000)))
		}
	}
	line("keys", kit.Plain(storeWords(p.Vault)))
	for _, k := range m.held {
		line(keyLabel(k.Kind), kit.Span{Text: present.Address(k.Address), Whole: true})
	}
	for _, c := range m.compared {
		word := "as the service computes it"
		if c.Own {
			word = "its key's own address"
		}
		line(present.AccountType(c.Account.Type), kit.Span{Text: present.Address(c.Account.AccountAddress),
			Whole: true},
			kit.Plain("  "+word+" "),
			kit.Span{Text: th.Sign(theme.Good), Style: th.Good, Whole: true})
	}
	if m.local() {
		for _, a := range p.WireAccounts(m.net.Pins) {
			if a.Type == api.AccountRoleBased {
				line(present.AccountType(a.Type), kit.Plain("its address follows from the network, once that is made"))
				continue
			}
			line(present.AccountType(a.Type), kit.Span{Text: present.Address(a.AccountAddress), Whole: true})
		}
	}
	for _, r := range m.has.Rows() {
		spans := []kit.Span{kit.Plain(r.Text)}
		if r.Address != "" {
			spans = []kit.Span{{Text: present.Address(r.Address), Whole: true}, kit.Plain(" " + r.Text)}
		}
		line(r.Label, spans...)
	}
	if !done {
		out = append(out, m.toKnow(w)...)
	}
	if done && len(m.held) > 0 {
		line("next", kit.Plain("make a backup of the keys: coffer keys backup FILE --profile "+p.Name))
	}
	return append(out, "")
}

// toKnow lists what may surprise the person later.
func (m *Model) toKnow(w int) []string {
	th := m.theme
	var out []string
	warn := func(text string) {
		out = append(out, kit.Row(th, w, margin, labelW, "to know",
			kit.Noted(th, theme.Warn, text)...)...)
	}
	if missing := m.withoutKey(); missing != "" {
		warn(missing)
	}
	if len(m.others) > 0 {
		warn("on this network is " + present.Clean(strings.Join(m.others, ", "), 200) +
			" already. Each profile has its own journal: this one begins empty, so limits per day and " +
			"signatures that are still open there are not known here.")
	}
	for _, f := range m.found {
		if !m.onNodes() && (f.Level == doctor.Warn || f.Level == doctor.Unknown) { // those of nodes were a step before
			out = append(out, findingLines(th, f, w)...)
		}
	}
	return out
}

// withoutKey names the account that has no key here, unless that was the choice.
func (m *Model) withoutKey() string {
	if m.picks[ownGroup] == ownWatch {
		return ""
	}
	for _, a := range m.accounts() {
		key := cmp.Or(a.SignerAddress+a.SessionAddress, a.AccountAddress)
		held := false
		for _, k := range m.held {
			held = held || k.Address == key || k.Kind == vault.EVM && strings.EqualFold(k.Address, key)
		}
		if !held {
			return "the key of " + present.Checksummed(key) +
				" is not among those of this profile: its account can be watched and signs nothing here."
		}
	}
	return ""
}

func storeWords(kind string) string {
	switch kind {
	case config.VaultFile:
		return "in an encrypted file, under your passphrase"
	case config.VaultKeyring:
		return "in the keyring of this system, under your passphrase as well"
	case config.VaultKeyringOnly:
		return "in the keyring of this system, which alone protects them"
	}
	return "nowhere: nothing is kept, you type the API key at every start"
}

func keyLabel(k vault.Kind) string {
	if k == vault.Solana {
		return "key (Solana)"
	}
	return "key (EVM)"
}
