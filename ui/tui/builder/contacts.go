package builder

import (
	"strings"

	"coffer/api"
	"coffer/api/caip"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
)

// names lists the addresses with a name: contacts, accounts, and recipients of earlier payments.
func (s *Screen) names() []Contact {
	out := append([]Contact{}, s.deps.Book...)
	for _, x := range s.ctx.Accounts {
		name := "your account"
		if !x.IsEVM() {
			name = "your Solana account"
		}
		out = append(out, Contact{Name: name, Address: x.AccountAddress})
	}
	for _, a := range s.paid {
		out = append(out, Contact{Name: "paid before", Address: a})
	}
	return out
}

// own reports whether an address is one of the person's accounts.
func (s *Screen) own(address string) bool {
	for _, x := range s.ctx.Accounts {
		if strings.EqualFold(x.AccountAddress, trim(address)) {
			return true
		}
	}
	return false
}

// evmAccount is the first account on EVM chains.
func (s *Screen) evmAccount() (api.Account, bool) {
	for _, x := range s.ctx.Accounts {
		if x.IsEVM() {
			return x, true
		}
	}
	return api.Account{}, false
}

// whose names an address. It marks one that only resembles a known one, because poisoned addresses get into a clipboard
// that way.
func (s *Screen) whose(address string) (string, theme.Meaning) {
	a, err := caip.ParseAddress(trim(address))
	if err != nil {
		return s.whoseSolana(trim(address))
	}
	whole := caip.CheckEIP55(trim(address)) == nil // else the mistake shows below, and no name beside it
	for _, c := range s.names() {
		if b, err := caip.ParseAddress(c.Address); err == nil && a == b {
			if !whole {
				return "", theme.None
			}
			return present.Clean(c.Name, 24), theme.Good
		}
	}
	if c, ok := s.alike(address); ok {
		return "looks like " + present.Clean(c.Name, 24) + ", but is another address", theme.Danger
	}
	return "", theme.None
}

func (s *Screen) whoseSolana(address string) (string, theme.Meaning) {
	if _, err := caip.ParseSolanaKey(address); err != nil {
		return "", theme.None
	}
	for _, c := range s.names() {
		if c.Address == address {
			return present.Clean(c.Name, 24), theme.Good
		}
	}
	if c, ok := s.alike(address); ok {
		return "looks like " + present.Clean(c.Name, 24) + ", but is another address", theme.Danger
	}
	return "", theme.None
}

// alike finds the known address that another one imitates: the first or the last four digits match, or eight digits of
// both ends together.
func (s *Screen) alike(address string) (Contact, bool) {
	a := strings.ToLower(strings.TrimPrefix(trim(address), "0x"))
	evm := strings.HasPrefix(trim(address), "0x")
	if !evm {
		a = trim(address)
	}
	for _, c := range s.names() {
		b := c.Address
		if rest, ok := strings.CutPrefix(b, "0x"); ok != evm {
			continue
		} else if ok {
			b = strings.ToLower(rest)
		}
		if a == b || len(a) < 8 {
			continue
		}
		if head, tail := sameStart(a, b), sameStart(reverse(a), reverse(b)); head >= 4 || tail >= 4 {
			return c, true
		}
	}
	return Contact{}, false
}

// sameStart counts the characters that two texts share at the start.
func sameStart(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func reverse(s string) string {
	b := []byte(s)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}

// recipientCaution warns of reasons against sending to an address; chain is the chain of the payment.
func (s *Screen) recipientCaution(address string, chain caip.Chain) caution {
	address = trim(address)
	a, err := caip.ParseAddress(address)
	if err == nil {
		if a == [20]byte{} {
			return caution{theme.Danger, "this is the zero address: what goes there is lost"}
		}
		if e, ok := tokenOf(s.ctx.Catalog, chain, address); ok {
			return caution{theme.Danger, "this is the contract of " + e.Symbol + ": what is sent to it is mostly lost"}
		}
	}
	if _, solana := caip.ParseSolanaKey(address); err != nil && solana != nil {
		return caution{}
	}
	if c, ok := s.alike(address); ok && s.known(address) == "" {
		return caution{theme.Danger, present.Clean(c.Name, 24) + " is " + present.Address(c.Address) + ": " +
			present.Plural(differing(address, c.Address), "character differs", "characters differ")}
	}
	if s.paidKnown && s.known(address) == "" {
		return caution{theme.Warn, "never sent there before: compare all of it with its source"}
	}
	return caution{}
}

// known is the name of an address, "" without one.
func (s *Screen) known(address string) string {
	for _, c := range s.names() {
		if strings.EqualFold(c.Address, trim(address)) &&
			(strings.HasPrefix(c.Address, "0x") || c.Address == trim(address)) {
			return c.Name
		}
	}
	return ""
}

// differing counts the positions at which two addresses of equal length differ.
func differing(a, b string) int {
	n := max(len(a), len(b)) - min(len(a), len(b))
	for i := range min(len(a), len(b)) {
		if !strings.EqualFold(a[i:i+1], b[i:i+1]) {
			n++
		}
	}
	return n
}

// bookItems offers the named addresses of a chain's kind.
func (s *Screen) bookItems(solana bool) []kit.Item {
	var out []kit.Item
	seen := map[string]bool{}
	for _, c := range s.names() {
		if strings.HasPrefix(c.Address, "0x") == solana || seen[strings.ToLower(c.Address)] {
			continue
		}
		seen[strings.ToLower(c.Address)] = true
		address := present.Checksummed(c.Address)
		out = append(out, kit.Item{Value: address, Label: present.Clean(c.Name, 30), Note: address})
	}
	return out
}
