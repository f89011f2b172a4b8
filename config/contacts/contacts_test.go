package contacts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"coffer/config"
)

const (
	anna   = "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"
	bert   = "0xfe52613d747E20F2f62e0A5cC36B0DFAe771C442"
	solana = "GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ"
)

// book is a book of the given names and addresses.
func book(t *testing.T, pairs ...string) Book {
	t.Helper()
	var b Book
	for i := 0; i < len(pairs); i += 2 {
		var err error
		if b, err = b.read(pairs[i], pairs[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func TestANameIsThePersonsOwnWordsAndNoAddress(t *testing.T) {
	for name, want := range map[string]string{
		"Anna": "", "Jürgen Müller": "", "4711": "", "山田": "", "R2-D2 (work)": "", strings.Repeat("x", 24): "",
		"": "needed", strings.Repeat("x", 25): "at most 24", "a\x1b[2J": "shown plainly", "a\u202eb": "shown plainly",
		"a\ufffdb": "shown plainly", "a  b": "one space", "=1+1": "begins with", "-x": "begins with",
		"@x":     "begins with",
		"0xAnna": "like an address", solana: "at most", "eip155:1": "like an address",
		"So11111111111111111111": "",
	} {
		err := CheckName(name)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
}

func TestL5_AnAddressOfABookHasItsChecksum(t *testing.T) {
	for address, want := range map[string]string{
		anna: anna, strings.ToLower(anna): anna, solana: solana, " " + anna + " ": anna,
		"0x93dBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0": "", "0x" + strings.Repeat("0", 40): "", anna[:41]: "",
		strings.Repeat("1", 32): "", "anna.eth": "",
	} {
		c, err := New("Anna", address)
		if c.Address != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", address, c.Address, err)
		}
	}
}

func TestABookHasEachNameAndEachAddressOnce(t *testing.T) {
	b := book(t, "bert", bert, "Anna", anna)
	if b[0].Name != "Anna" {
		t.Errorf("not by name: %v", b)
	}
	for _, c := range []Contact{{"ANNA", solana}, {"Carl", bert}, {"Carl", strings.ToLower(bert)}} {
		if got, err := b.With(c); err == nil {
			t.Errorf("%v gives %v", c, got)
		}
	}
	r, err := b.Renamed("anna", "Anna K.")
	if err != nil || r[0] != (Contact{"Anna K.", anna}) || b[0].Name != "Anna" {
		t.Errorf("%v %v, before: %v", r, err, b)
	}
	if _, err := b.Renamed("Anna", "Bert"); err == nil {
		t.Error("a second Bert")
	}
	if again, err := b.Renamed("Anna", "ANNA"); err != nil || again[0].Name != "ANNA" {
		t.Errorf("another case: %v %v", again, err)
	}
	if w, err := b.Without("BERT"); err != nil || len(w) != 1 || len(b) != 2 {
		t.Errorf("%v %v", w, err)
	}
	if _, err := b.Without("Carl"); err == nil {
		t.Error("removed a contact that is not there")
	}
	if m, err := b.Merged(book(t, "Anna", anna, "Sol", solana)); err != nil || len(m) != 3 {
		t.Errorf("%v %v", m, err)
	}
	if m, err := b.Merged(book(t, "Anna", solana)); err == nil {
		t.Errorf("another Anna: %v", m)
	}
	full := Book{}
	for i := range MaxContacts + 1 {
		next, err := full.With(Contact{fmt.Sprintf("n%d", i), fmt.Sprintf("a%d", i)})
		if (err == nil) != (i < MaxContacts) {
			t.Fatalf("contact %d: %v", i, err)
		}
		full = next
	}
}

func TestADocumentIsReadWholeOrNotAtAll(t *testing.T) {
	b := book(t, "Anna", anna, "Sol", solana)
	asJSON, err := b.JSON()
	if err != nil {
		t.Fatal(err)
	}
	asCSV, err := b.CSV()
	if err != nil {
		t.Fatal(err)
	}
	if string(asCSV) != "name,address\nAnna,"+anna+"\nSol,"+solana+"\n" {
		t.Errorf("%s", asCSV)
	}
	for _, doc := range []string{string(asJSON), string(asCSV), "\ufeffName,Address\r\nAnna," + anna + "\r\nSol," +
		solana + "\r\n"} {
		if got, err := Parse([]byte(doc)); err != nil || !reflect.DeepEqual(got, b) {
			t.Errorf("%s: %v %v", doc, got, err)
		}
	}
	for doc, want := range map[string]string{
		"": "neither JSON", "a,b\n": "neither JSON", "name,address\nAnna\n": "wrong number of fields",
		"name,address\nAnna," + anna + "\nanna," + solana + "\n": "line 3",
		"name,address\n\"": "line 2", "name,address\nA," + anna[:41] + "1": "line 2: the checksum",
		`{"version":2,"contacts":[]}`:                                                 "version is 2",
		`{"version":1,"contacts":[{"name":"a","address":"0x0"}]}`:                     "contact 1",
		`{"version":1,"contacts":[],"more":1}`:                                        "not a book",
		`{"version":1,"contacts":[{"name":"a","name":"b","address":"` + anna + `"}]}`: "not a book",
		`{"version":1,"contacts":[]} x`:                                               "not a book",
		strings.Repeat("x", MaxBytes+1):                                               "more than",
	} {
		if got, err := Parse([]byte(doc)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v %v, want %q", doc, got, err, want)
		}
	}
}

func TestAChangeReplacesTheFileOrLeavesItAsItIs(t *testing.T) {
	path := Path(filepath.Join(t.TempDir(), "new", "config.toml"))
	if b, err := Load(path); err != nil || b != nil {
		t.Fatalf("%v %v", b, err)
	}
	var all sync.WaitGroup
	for i := range 8 { // none is lost
		all.Go(func() {
			_, err := Change(context.Background(), path, func(b Book) (Book, error) {
				return b.With(Contact{fmt.Sprintf("n%d", i), "0x" + strings.Repeat("0", 39) + string(rune('1'+i))})
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	b, err := Load(path)
	if err != nil || len(b) != 8 {
		t.Fatalf("%v %v", b, err)
	}
	before, _ := os.ReadFile(path)
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %o", info.Mode().Perm())
	}
	if _, err := Change(context.Background(), path, func(Book) (Book, error) { return nil, errors.New("no") }); err ==
		nil {
		t.Error("a failed change is no error")
	}
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Errorf("%s", after)
	}
	var fault *config.Error
	if err := os.WriteFile(path, []byte("name,address\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); !errors.As(err, &fault) || fault.Path != path {
		t.Errorf("a table as the file: %v", err)
	}
	if _, err := Change(context.Background(), path, func(b Book) (Book, error) { return b, nil }); err == nil {
		t.Error("a file that does not read was replaced")
	}
}

func TestC3_ABookThatOthersMayWriteIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "contacts.json")
	data, _ := book(t, "Anna", anna).JSON()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o622); err != nil {
		t.Fatal(err)
	}
	if b, err := Load(path); err == nil || !strings.Contains(err.Error(), "others may write") {
		t.Errorf("%v %v", b, err)
	}
}

func FuzzContacts(f *testing.F) {
	for _, seed := range []string{`{"version":1,"contacts":[{"name":"Anna","address":"` + anna + `"}]}`,
		"name,address\nAnna," + anna + "\n", "\ufeffname,address\n\"A, B\"," + solana, `{"version":1`,
		"name,address\n\"a"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := Parse(data)
		if err != nil {
			return
		}
		for _, write := range []func() ([]byte, error){b.JSON, b.CSV} {
			doc, err := write()
			if err != nil {
				t.Fatal(err)
			}
			if got, err := Parse(doc); err != nil || len(got)+len(b) > 0 && !reflect.DeepEqual(got, b) {
				t.Fatalf("%s\ngives %v %v", doc, got, err)
			}
		}
	})
}
