package profile

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/assets"
	"coffer/config"
	"coffer/config/contacts"
	"coffer/ui/compose"
	"coffer/wallet/verify"
)

// Book is the person's contacts, beside the configuration that the profile is of. A guest's are beside the guest's own
// settings. It is safe for use by several goroutines.
type Book struct {
	path    string
	config  string // path of the configuration
	catalog *catalog.Catalog
	mu      sync.Mutex
	own     contacts.Book
}

// openBook reads the contacts beside a configuration; names are compared with the symbols of a catalogue.
func openBook(configuration string, c *catalog.Catalog) (*Book, error) {
	b := &Book{path: contacts.Path(configuration), config: configuration, catalog: c}
	var err error
	b.own, err = contacts.Load(b.path)
	return b, err
}

// Book reads the contacts without opening a profile, whose catalogue says which names are symbols.
func (h Host) Book(profile string) (*Book, error) {
	_, paths, err := h.Find(profile)
	if err != nil {
		return nil, err
	}
	c, err := h.Catalog(profile)
	if err != nil {
		return nil, err
	}
	return openBook(paths.Config, c)
}

// Own are the contacts.
func (b *Book) Own() contacts.Book {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.own
}

// Change replaces the contacts with what edit makes of those in the file, and writes them. A new name that is or looks
// like the symbol of an asset is refused, and so are the names that this program itself gives.
func (b *Book) Change(ctx context.Context, edit func(contacts.Book) (contacts.Book, error)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	own, err := contacts.Change(ctx, b.path, func(before contacts.Book) (contacts.Book, error) {
		after, err := edit(before)
		for _, c := range after {
			if err == nil && !slices.Contains(before, c) {
				err = b.free(c.Name)
			}
		}
		return after, err
	})
	if err == nil {
		b.own = own
	}
	return err
}

// free refuses names that mean something else.
func (b *Book) free(name string) error {
	if view, _ := verify.NewSymbols(b.catalog).Judge(name); view.Like != "" {
		return fmt.Errorf("%q reads as the asset %s: choose another name", name, view.Like)
	}
	for _, c := range append(builtIn(), compose.Contact{Name: "your account"},
		compose.Contact{Name: "your Solana account"}, compose.Contact{Name: "paid before"}) {
		if strings.EqualFold(c.Name, name) {
			return fmt.Errorf("this program itself calls an address %q: choose another name", c.Name)
		}
	}
	file, err := config.Load(b.config)
	if err != nil {
		return err
	}
	for _, p := range file.Profiles {
		for _, a := range p.Accounts {
			if strings.EqualFold(a.Name, name) {
				return fmt.Errorf("your account in profile %s has the name %q: choose another name", p.Name, a.Name)
			}
		}
	}
	return nil
}

// Save names an address: with from the contact of that name gets another one, and without a name it is removed.
func (b *Book) Save(ctx context.Context, from, name, address string) error {
	return b.Change(ctx, func(own contacts.Book) (contacts.Book, error) {
		switch {
		case from != "" && name == "":
			return own.Without(from)
		case from != "":
			return own.Renamed(from, name)
		}
		c, err := contacts.New(name, address)
		if err != nil {
			return nil, err
		}
		return own.With(c)
	})
}

// Contacts are the named recipients: on networks of play money the payee of the demo first, then the person's, then the
// other accounts of the profile that have a name.
func (o *Opened) Contacts() []compose.Contact {
	var out []compose.Contact
	if !o.Network.OnOwnNodes() && (o.Network.Kind == network.Embedded || o.Network.Kind == network.Lab) {
		out = builtIn()
	}
	for _, c := range o.Book.Own() {
		if !slices.ContainsFunc(out, func(x compose.Contact) bool { return strings.EqualFold(x.Address, c.Address) }) {
			out = append(out, compose.Contact{Name: c.Name, Address: c.Address, Own: true})
		}
	}
	for i, a := range o.All {
		if name := o.Profile.Accounts[i].Name; name != "" && !slices.Contains(o.Accounts, a) &&
			!slices.ContainsFunc(out, func(x compose.Contact) bool {
				return strings.EqualFold(x.Address, a.AccountAddress) || strings.EqualFold(x.Name, name)
			}) {
			out = append(out, compose.Contact{Name: name, Address: a.AccountAddress, Account: true})
		}
	}
	return out
}

// Known reports whether an address is a contact, as package consent asks. The names that the program brings along count
// on the network inside it alone.
func (o *Opened) Known(address string) bool {
	book := slices.DeleteFunc(o.Contacts(), func(c compose.Contact) bool {
		return !c.Own && !c.Account && o.Network.Kind != network.Embedded
	})
	return (&compose.World{Book: book}).NameOf(address) != ""
}

// builtIn are the contacts of the demo.
func builtIn() []compose.Contact {
	demo, err := assets.DemoKey()
	if err != nil {
		return nil
	}
	var out []compose.Contact
	for _, e := range demo.AddressBook {
		out = append(out, compose.Contact{Name: e.Name, Address: e.Address})
	}
	return out
}
