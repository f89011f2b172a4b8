package keys

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const anna = "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"

// TestD10_ContactsAreKeptRenamedRemovedAndMovedToAnotherMachine goes through the commands as a person does.
func TestD10_ContactsAreKeptRenamedRemovedAndMovedToAnotherMachine(t *testing.T) {
	d := newDesk(t)
	for _, step := range []struct {
		code int
		said string // on standard error, a part
		out  string // on standard output, all of it
		args []string
	}{
		{0, "There are no contacts", "", []string{"list"}},
		{0, "", "Anna  " + anna + "\n", []string{"add", "Anna", strings.ToLower(anna)}},
		{2, `"Anna" is the name of ` + anna, "", []string{"add", "anna", solanaHere}},
		{2, "is named \"Anna\" already", "", []string{"add", "Bert", anna}},
		{2, "the checksum of the address is wrong", "", []string{"add", "Bert", anna[:41] + "1"}},
		{2, "reads as the asset USDC", "", []string{"add", "usdc", solanaHere}},
		{2, "reads as the asset USDC", "", []string{"add", "UЅDC", solanaHere}},
		{2, "this program itself calls an address", "", []string{"add", "demo payee", solanaHere}},
		{2, "this program itself calls an address", "", []string{"rename", "Anna", "your account"}},
		{2, "one name and one address", "", []string{"add", "Anna", "K.", solanaHere}},
		{4, "looks like Anna, but is another address", "", []string{"add", "Bert", strings.ToLower(anna[:41]) + "1"}},
		{0, "", "Bert  0x93DBd23B6B71B82e3A19aD8D51DdEbBb13aF7Bc1\n",
			[]string{"add", "Bert", strings.ToLower(anna[:41]) + "1", "--similar"}},
		{0, "", "Anna K.  " + anna + "\n", []string{"rename", "ANNA", "Anna K."}},
		{0, "", "Bert  0x93DBd23B6B71B82e3A19aD8D51DdEbBb13aF7Bc1\n", []string{"remove", "bert"}},
		{2, "there is no contact bert", "", []string{"remove", "bert"}},
		{0, "", "name,address\nAnna K.," + anna + "\n", []string{"export", "--csv"}},
		{2, "nothing was added", "", []string{"import", d.dir + "/network.json"}},
	} {
		if code := d.run(append([]string{"contacts"}, step.args...)...); code != step.code ||
			!strings.Contains(d.said.String(), step.said) || d.out.String() != step.out {
			t.Errorf("%v: %d, want %d\n%s%s", step.args, code, step.code, d.said.String(), d.out.String())
		}
	}
	for _, as := range [][]string{{"contacts", "export"}, {"contacts", "export", "--csv"}} {
		d.run(as...)
		other := newDesk(t)
		other.in.Write(d.out.Bytes())
		if code := other.run("contacts", "import", "-"); code != 0 || other.out.String() != "Anna K.  "+anna+"\n" {
			t.Errorf("%v: %d\n%s%s", as, code, other.said.String(), other.out.String())
		}
		other.write("more.csv", []byte("name,address\nSol,"+solanaHere+"\nanna k.,"+solanaHere[:43]+"K\n"), 0o600)
		if code := other.run("contacts", "import", other.dir+"/more.csv"); code != 2 {
			t.Errorf("another anna k.: %d\n%s", code, other.out.String())
		}
		if other.run("contacts", "list"); other.out.String() != "Anna K.  "+anna+"\n" {
			t.Errorf("a part of a refused import was kept:\n%s", other.out.String())
		}
	}
	before, _ := os.ReadFile(filepath.Join(d.dir, "contacts.json"))
	d.write("contacts.json", append(before, '}'), 0o600)
	if code := d.run("contacts", "add", "Carl", solanaHere); code != 2 || !strings.Contains(d.said.String(),
		"repair the file, or move it away") {
		t.Errorf("%d %s", code, d.said.String())
	}
	if after, _ := os.ReadFile(filepath.Join(d.dir, "contacts.json")); string(after) != string(before)+"}" {
		t.Error("a book that does not read was written")
	}
}

// TestD10_AContactCannotTakeTheNameOfAnAccount: --to and --account would mean two addresses by one word.
func TestD10_AContactCannotTakeTheNameOfAnAccount(t *testing.T) {
	d := newDesk(t)
	d.write("config.toml", []byte("version = 1\n[profiles.mine]\nkind = \"embedded\"\nvault = \"file\"\n"+
		"[[profiles.mine.accounts]]\ntype = \"kernel-v3.1-ecdsa\"\n"+
		"signer_address = \""+anna+"\"\nname = \"savings\"\n"), 0o600)
	if code := d.run("contacts", "add", "Savings", solanaHere); code != 2 || !strings.Contains(d.said.String(),
		"your account in profile mine has the name \"savings\": choose another name") {
		t.Errorf("%d\n%s", code, d.said.String())
	}
	if code := d.run("contacts", "add", "rent", solanaHere); code != 0 {
		t.Errorf("%d\n%s", code, d.said.String())
	}
	if d.run("contacts", "list"); d.out.String() != "rent  "+solanaHere+"\n" {
		t.Error(d.out.String())
	}
}
