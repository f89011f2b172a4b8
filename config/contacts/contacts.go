// Package contacts keeps the addresses that a person gave names to: one file beside the configuration, which the
// person owns. A name stands beside an address and can be typed in its place; it never replaces the address.
//
// Promise: a Book holds each name once, without regard to case, and each address once. Names pass the cleaning gate
// unchanged and are no addresses; EVM addresses carry a correct checksum. A file with anything else is refused as a
// whole, and so is an import: nothing is corrected and nothing is left out. Changes are made under a lock and replace
// the file as a whole.
//
// Errors: a *config.Error names file and place; the other errors say what is wrong with a name, an address or a
// document. Sources: docs/configuration.md#contacts, TH-L5, TH-H1.
package contacts

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api/caip"
	"coffer/api/text"
)

// MaxName is the length of a name in characters; MaxContacts and MaxBytes bound a book and its documents.
const (
	MaxName     = 24
	MaxContacts = 2000
	MaxBytes    = 1 << 20
)

// Contact is a named address: EVM with its checksum, or Solana.
type Contact struct {
	Name    string `json:"name"`
	Address string `json:"address"`
}

// Book is a list of contacts in the order of their names.
type Book []Contact

// New checks a name and an address. Blanks around them do not count.
func New(name, address string) (Contact, error) {
	c := Contact{strings.TrimSpace(name), strings.TrimSpace(address)}
	if err := CheckName(c.Name); err != nil {
		return Contact{}, err
	}
	a, err := caip.ParseAddress(c.Address)
	if err == nil {
		if a == (common.Address{}) {
			return Contact{}, errors.New("this is the zero address: what goes there is lost")
		}
		if caip.CheckEIP55(c.Address) != nil {
			return Contact{}, errors.New("the checksum of the address is wrong: a letter or digit has changed")
		}
		c.Address = a.Hex()
		return c, nil
	}
	if key, err := caip.ParseSolanaKey(c.Address); err != nil || key == [32]byte{} {
		return Contact{}, errors.New("an address is 0x and 40 hexadecimal digits, or a Solana address")
	}
	return c, nil
}

// CheckName says what is wrong with a name.
func CheckName(name string) error {
	first, _ := utf8.DecodeRuneInString(name)
	_, notSolana := caip.ParseSolanaKey(name)
	switch n := utf8.RuneCountInString(name); {
	case n == 0:
		return errors.New("a name is needed")
	case n > MaxName:
		return fmt.Errorf("a name has at most %d characters, this one has %d", MaxName, n)
	case text.Clean(name, MaxName) != name || strings.ContainsRune(name, utf8.RuneError):
		return errors.New("the name has characters that cannot be shown plainly")
	case !unicode.IsLetter(first) && !unicode.IsDigit(first):
		return errors.New("a name begins with a letter or a digit")
	case strings.Join(strings.Fields(name), " ") != name:
		return errors.New("between the words of a name is one space")
	case strings.HasPrefix(strings.ToLower(name), "0x") || notSolana == nil || strings.Contains(name, ":"):
		return errors.New("a name must not look like an address")
	}
	return nil
}

// Named finds a contact by its name, without regard to case; -1 for none.
func (b Book) Named(name string) int {
	return slices.IndexFunc(b, func(c Contact) bool { return strings.EqualFold(c.Name, strings.TrimSpace(name)) })
}

// At finds the contact of an address; -1 for none.
func (b Book) At(address string) int {
	return slices.IndexFunc(b, func(c Contact) bool {
		return c.Address == address || strings.HasPrefix(c.Address, "0x") && strings.EqualFold(c.Address, address)
	})
}

// With returns the book with one more contact.
func (b Book) With(c Contact) (Book, error) {
	if i := b.Named(c.Name); i >= 0 {
		return nil, fmt.Errorf("%q is the name of %s already", b[i].Name, b[i].Address)
	}
	if i := b.At(c.Address); i >= 0 {
		return nil, fmt.Errorf("%s is named %q already", c.Address, b[i].Name)
	}
	if len(b) >= MaxContacts {
		return nil, fmt.Errorf("a book has at most %d contacts", MaxContacts)
	}
	at, _ := slices.BinarySearchFunc(b, c, func(x, y Contact) int {
		return strings.Compare(strings.ToLower(x.Name), strings.ToLower(y.Name))
	})
	return slices.Insert(slices.Clone(b), at, c), nil
}

// Without returns the book without the contact of a name.
func (b Book) Without(name string) (Book, error) {
	i := b.Named(name)
	if i < 0 {
		return nil, fmt.Errorf("there is no contact %s", text.Named(name))
	}
	return slices.Delete(slices.Clone(b), i, i+1), nil
}

// Renamed returns the book with another name for a contact, whose address stays.
func (b Book) Renamed(from, to string) (Book, error) {
	i := b.Named(from)
	if i < 0 {
		return nil, fmt.Errorf("there is no contact %s", text.Named(from))
	}
	c, err := New(to, b[i].Address)
	if err != nil {
		return nil, err
	}
	rest, _ := b.Without(from)
	return rest.With(c)
}

// Merged returns the book with the contacts of another one; what both have counts once.
func (b Book) Merged(more Book) (Book, error) {
	var err error
	for _, c := range more {
		if i := b.Named(c.Name); i >= 0 && b[i].Address == c.Address {
			continue
		}
		if b, err = b.With(c); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// document is the file: its version, and the contacts.
type document struct {
	Version  int       `json:"version"`
	Contacts []Contact `json:"contacts"`
}

// JSON is the book as its file has it.
func (b Book) JSON() ([]byte, error) {
	out, err := json.Marshal(document{1, append([]Contact{}, b...)}, jsontext.WithIndent("  "))
	return append(out, '\n'), err
}

// CSV is the book as a table with a header.
func (b Book) CSV() ([]byte, error) {
	rows := [][]string{{"name", "address"}}
	for _, c := range b {
		rows = append(rows, []string{c.Name, c.Address})
	}
	var out bytes.Buffer
	err := csv.NewWriter(&out).WriteAll(rows)
	return out.Bytes(), err
}

// Parse reads what JSON or CSV wrote, told apart by the first character.
func Parse(data []byte) (Book, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("it has more than %d bytes", MaxBytes)
	}
	if data = bytes.TrimPrefix(data, []byte("\ufeff")); bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return parseJSON(data)
	}
	return parseCSV(data)
}

func parseJSON(data []byte) (Book, error) {
	var d document
	if err := json.Unmarshal(data, &d, json.RejectUnknownMembers(true)); err != nil {
		return nil, errors.New("it is not a book of contacts: " + text.Clean(err.Error(), 200))
	}
	if d.Version != 1 {
		return nil, fmt.Errorf("its version is %d, this program knows version 1", d.Version)
	}
	var b Book
	for i, c := range d.Contacts {
		var err error
		if b, err = b.read(c.Name, c.Address); err != nil {
			return nil, fmt.Errorf("contact %d: %w", i+1, err)
		}
	}
	return b, nil
}

func parseCSV(data []byte) (Book, error) {
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord = 2
	head, err := r.Read()
	if err != nil || !strings.EqualFold(head[0], "name") || !strings.EqualFold(head[1], "address") {
		return nil, errors.New(`it is neither JSON nor a table that begins with "name,address"`)
	}
	var b Book
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		if err != nil { // it names the line
			return nil, errors.New(text.Clean(err.Error(), 200))
		}
		line, _ := r.FieldPos(0)
		if b, err = b.read(row[0], row[1]); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
}

func (b Book) read(name, address string) (Book, error) {
	c, err := New(name, address)
	if err != nil {
		return nil, err
	}
	return b.With(c)
}
