package screen

import (
	tea "charm.land/bubbletea/v2"

	"coffer/ui/compose"
	"coffer/ui/tui/kit"
)

// Contacts is the person's book of addresses with names. List is what has a name, that of the program itself included.
// Save names an address; with from it gives the contact of that name another one, and with from and no name it removes
// it; it writes a file and is called from commands. Whose says whose an address is or imitates. The zero Contacts
// belong to a program without a book.
type Contacts struct {
	List  func() []compose.Contact
	Save  func(from, name, address string) error
	Whose func(address string) (string, compose.Level)
}

// Own are the contacts that the person named.
func (c Contacts) Own() []compose.Contact {
	var out []compose.Contact
	if c.List != nil {
		for _, x := range c.List() {
			if x.Own {
				out = append(out, x)
			}
		}
	}
	return out
}

// NameMsg asks the shell for the dialog that names an address, or renames its contact; "" asks for the address, too.
type NameMsg struct{ Address string }

// ContactsChangedMsg tells every screen which addresses have a name from now on.
type ContactsChangedMsg struct{ Book []compose.Contact }

// NameKey is the press of the key that names the recipient of a screen.
const NameKey = "ctrl+n"

// Naming adds the key that names the recipient to those of a screen, where there is a recipient and a book.
func (c Context) Naming(keys []kit.Key, address string) []kit.Key {
	if address == "" || c.Contacts.Save == nil {
		return keys
	}
	return append(keys, kit.NewKey("name it", NameKey).Named("name-recipient").Explain(
		"give the recipient a name, or change it"))
}

// Name asks for the dialog that names an address.
func (c Context) Name(address string) tea.Cmd {
	if address == "" || c.Contacts.Save == nil {
		return nil
	}
	return Send(NameMsg{address})
}

// Payee is whom the quote paid by the wallet's journal: the first that is none of the person's own accounts; "" where
// that is not known.
func (c Context) Payee(quoteID string) string {
	if c.Terms == nil || quoteID == "" {
		return ""
	}
	t, _ := c.Terms(quoteID)
	w := compose.World{Accounts: c.Accounts}
	for _, p := range t.Payees {
		if !w.Own(p.To) {
			return p.To
		}
	}
	return ""
}
