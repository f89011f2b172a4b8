package compose

import (
	"cmp"
	"strconv"
	"strings"

	"coffer/api/caip"
	"coffer/ui/present"
)

// People lists the addresses with a name: contacts, accounts, and recipients of earlier payments.
func (w *World) People() []Contact {
	out := append([]Contact{}, w.Book...)
	for _, x := range w.Accounts {
		name := "your account"
		if !x.IsEVM() {
			name = "your Solana account"
		}
		out = append(out, Contact{Name: name, Address: x.AccountAddress})
	}
	for _, a := range w.Paid {
		out = append(out, Contact{Name: "paid before", Address: a})
	}
	return out
}

// Whose names an address. It marks one that only resembles a known one, because poisoned addresses get into a clipboard
// that way.
func (w *World) Whose(address string) (string, Level) {
	address = trim(address)
	a, err := caip.ParseAddress(address)
	if _, solana := caip.ParseSolanaKey(address); err != nil && solana != nil {
		return "", None
	}
	for _, c := range w.People() {
		b, bad := caip.ParseAddress(c.Address)
		switch {
		case err == nil && bad == nil && a == b && caip.CheckEIP55(address) != nil:
			return "", None // the mistake shows below, and no name beside it
		case err == nil && bad == nil && a == b, c.Address == address:
			return present.Clean(c.Name, 24), Good
		}
	}
	if c, ok := w.alike(address); ok {
		return "looks like " + present.Clean(c.Name, 24) + ", but is another address", Danger
	}
	return "", None
}

// alike finds the known address that another one imitates: the first or the last four digits match, or eight digits of
// both ends together.
func (w *World) alike(address string) (Contact, bool) {
	a := strings.ToLower(strings.TrimPrefix(trim(address), "0x"))
	evm := strings.HasPrefix(trim(address), "0x")
	if !evm {
		a = trim(address)
	}
	for _, c := range w.People() {
		b := c.Address
		if rest, ok := strings.CutPrefix(b, "0x"); ok != evm {
			continue
		} else if ok {
			b = strings.ToLower(rest)
		}
		if a == b || len(a) < 8 {
			continue
		}
		if sameStart(a, b) >= 4 || sameEnd(a, b) >= 4 {
			return c, true
		}
	}
	return Contact{}, false
}

// sameStart counts the characters that two texts share at the start.
func sameStart(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// sameEnd counts the characters that two texts share at the end.
func sameEnd(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// recipientCaution warns of reasons against sending to an address; chain is the chain of the payment.
func (w *World) recipientCaution(address string, chain caip.Chain) Caution {
	address = trim(address)
	a, err := caip.ParseAddress(address)
	if err == nil {
		if a == [20]byte{} {
			return Caution{Danger, "this is the zero address: what goes there is lost"}
		}
		if e, ok := w.TokenAt(chain, address); ok {
			return Caution{Danger, "this is the contract of " + e.Symbol + ": what is sent to it is mostly lost"}
		}
	}
	if _, solana := caip.ParseSolanaKey(address); err != nil && solana != nil {
		return Caution{}
	}
	if c, ok := w.alike(address); ok && w.NameOf(address) == "" {
		return Caution{Danger, present.Clean(c.Name, 24) + " is " + present.Address(c.Address) + ": " +
			present.Plural(differing(address, c.Address), "character differs", "characters differ")}
	}
	if w.PaidKnown && w.NameOf(address) == "" {
		return Caution{Warn, "never sent there before: compare all of it with its source"}
	}
	return Caution{}
}

// NameOf is the name of an address, "" without one.
func (w *World) NameOf(address string) string {
	for _, c := range w.People() {
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

// Named is the address of a token's symbol on a chain or of a contact's name, "" for any other text.
func (w *World) Named(chain caip.Chain, text string) string {
	if e, ok := w.AssetOn(chain, trim(text)); ok {
		if a, ok := e.Asset.Token(); ok {
			return a.Hex()
		}
	}
	return w.Person(text)
}

// Person is the address of a contact's name, "" for any other text. A recipient is never a token's symbol.
func (w *World) Person(text string) string {
	for _, c := range w.Book {
		if strings.EqualFold(c.Name, trim(text)) {
			return present.Checksummed(c.Address)
		}
	}
	return ""
}

// Nameable is the address of a text to which a person can give a name, in full; "" for any other text. An address
// typed as the name of a contact is one, the zero address is none.
func (w *World) Nameable(text string) string {
	text = cmp.Or(w.Person(text), trim(text))
	a, err := caip.ParseAddress(text)
	if _, solana := caip.ParseSolanaKey(text); err != nil && solana == nil {
		return text
	}
	if err != nil || caip.CheckEIP55(text) != nil || a == [20]byte{} {
		return ""
	}
	return a.Hex()
}

// Address reads the address of a contract or a token on a chain: written out, or as a name or a symbol. Text that is
// not one is returned as it is, with its mistake.
func (w *World) Address(chain caip.Chain, text string) (address, problem string) {
	address = cmp.Or(w.Named(chain, text), trim(text))
	return address, addressMistake(chain, address)
}

// Recipient is Address for somebody who is paid: the symbol of a token, its mistake, names none, and neither does the
// zero address.
func (w *World) Recipient(chain caip.Chain, text string) (address, problem string) {
	named := w.Person(text)
	text = cmp.Or(named, trim(text))
	if _, err := caip.ParseSolanaKey(text); err == nil && w.noSolana() != "" {
		return text, w.noSolana()
	}
	if named != "" {
		return text, addressMistake(chain, text)
	}
	if !chain.IsSolana() && w.Named(chain, text) != "" {
		return text, "that is a token: name who gets it"
	}
	if a, err := caip.ParseAddress(text); err == nil && a == [20]byte{} && !chain.IsSolana() {
		return text, zeroAddress
	}
	return text, addressMistake(chain, text)
}

const (
	zeroAddress   = "this is the zero address: what goes there is lost"
	addressNeeded = "an address is needed"
)

// addressMistake checks an address that is written out; empty text is the caller's to judge.
func addressMistake(chain caip.Chain, text string) string {
	_, err := caip.ParseAddress(text)
	_, notSolana := caip.ParseSolanaKey(text)
	switch {
	case text == "":
	case notSolana == nil && (chain.IsSolana() || chain == (caip.Chain{})):
	case chain.IsSolana() && err == nil:
		return "this is an EVM address: a Solana address is 32 to 44 letters and digits"
	case chain.IsSolana():
		return "a Solana address is 32 to 44 letters and digits"
	case notSolana == nil:
		return "this is a Solana address: here an address is 0x and 40 hexadecimal digits"
	case err != nil && strings.HasPrefix(text, "0x") && len(text) < 42:
		return strconv.Itoa(len(text)-2) + " of 40 hexadecimal digits"
	case err != nil:
		return "an address is 0x and 40 hexadecimal digits"
	case caip.CheckEIP55(text) != nil:
		return "the checksum is wrong: a letter or digit has changed"
	}
	return ""
}
