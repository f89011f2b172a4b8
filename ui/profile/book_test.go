package profile

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coffer/config/contacts"
	"coffer/ui/compose"
)

const someone = "0xfe52613d747E20F2f62e0A5cC36B0DFAe771C442"

// A guest's contacts are beside the guest's own settings; a book that does not read counts as empty and stays.
func TestD10_AGuestsContactsAreTheGuestsOwn(t *testing.T) {
	dir := t.TempDir()
	o, err := OpenGuest(guestOf(t, dir, bytes.Repeat([]byte{7}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	if all := o.Contacts(); len(all) != 2 || all[0].Own || all[0].Name != "Demo payee" {
		t.Fatalf("%+v", all)
	}
	if err := o.Book.Save(context.Background(), "", "Anna", strings.ToLower(someone)); err != nil {
		t.Fatal(err)
	}
	if all := o.Contacts(); !slices.Contains(all, compose.Contact{Name: "Anna", Address: someone, Own: true}) {
		t.Errorf("%+v", all)
	}
	again, err := OpenGuest(guestOf(t, dir, bytes.Repeat([]byte{7}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close() }()
	if len(again.Contacts()) != 3 {
		t.Errorf("%+v", again.Contacts())
	}
	path := filepath.Join(dir, "contacts.json")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken, err := OpenGuest(guestOf(t, dir, bytes.Repeat([]byte{7}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = broken.Close() }()
	if err := broken.Book.Save(context.Background(), "", "Bert", someone); err == nil || len(broken.Contacts()) != 2 {
		t.Errorf("%v, %+v", err, broken.Contacts())
	}
	if data, _ := os.ReadFile(path); string(data) != "{" {
		t.Errorf("%s", data)
	}
}

func TestH1_ANameOfAContactIsNoSymbolAndNoneOfThisProgram(t *testing.T) {
	o, err := OpenGuest(guestOf(t, t.TempDir(), bytes.Repeat([]byte{7}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	for name, good := range map[string]bool{"usdc": false, "UЅDC": false, "ＵＳＤＣ": false, "Weth": false,
		"Demo Payee": false, "YOUR ACCOUNT": false, "paid before": false, "Anna": true, "USDC of Anna": true} {
		err := o.Book.Save(context.Background(), "", name, someone)
		if (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
		if err == nil {
			if err := o.Book.Save(context.Background(), name, "", someone); err != nil {
				t.Error(err)
			}
		}
	}
	// What another program wrote is kept as it is: a symbol may be newer than a name.
	if _, err := contacts.Change(context.Background(), o.Book.path, func(contacts.Book) (contacts.Book, error) {
		return contacts.Book{{Name: "usdc", Address: someone}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := o.Book.Save(context.Background(), "", "Bert",
		"GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ"); err != nil ||
		len(o.Book.Own()) != 2 {
		t.Errorf("%v %v", err, o.Book.Own())
	}
}
