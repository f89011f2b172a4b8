package builder

import (
	"bytes"
	"strings"
	"testing"

	"coffer/ui/compose"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/intent"

	"github.com/charmbracelet/colorprofile"
)

func draw(s *Screen) string {
	return s.View(screen.Frame{W: 80, H: 19, Theme: theme.New(true, colorprofile.NoTTY, false), Now: s.Clock()})
}

// FuzzDrafts: a document that the parser accepts is drawn and checked without harm, and saving it again gives the same
// document.
func FuzzDrafts(f *testing.F) {
	for _, to := range []func(*rig){filledTransfer, filledSwap, func(r *rig) {
		r.press("d")
		r.s.addOverride()
		r.s.addSlot(0)
		r.s.b.Allow = append(r.s.b.Allow, &compose.Allowance{Asset: usdcBase, Spender: router, Amount: "1"})
		r.s.ownNeeds()
	}} {
		r := newRig(f)
		to(r)
		b, err := r.s.desk().Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(
		`{"version":1,"calls":{"chain":"eip155:1","calls":[{"signature":"f((uint256,bytes[])[2] x)",` +
			`"args":[{"items":[{"items":[{},{"items":[{"text":"0x"}]}]},{"items":[{},{}]}]}]}],"slip":{"preset":0},` +
			`"valid":{"preset":3},"start":{"preset":-1}}}`))
	r := newRig(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := r.s.ParseDesk(raw)
		if err != nil {
			return
		}
		s := r.s
		s.show(formCalls)
		s.clear()
		s.x[intent.KindTransfer], s.x[intent.KindSwap] = compose.NewExchange(intent.KindTransfer),
			compose.NewExchange(intent.KindSwap)
		s.lay(d)
		_, _ = s.freeze()
		if v := draw(s); strings.ContainsRune(strings.ReplaceAll(v, "\x1b[7770z", ""), '\x1b') {
			t.Fatalf("an escape sequence reached the screen: %q", v)
		}
		first, err := s.desk().Encode()
		if err != nil {
			return // text that is not UTF-8 is not saved
		}
		again, err := r.s.ParseDesk(first)
		if err != nil {
			t.Fatalf("kept, but not read again: %v\n%s", err, first)
		}
		form := s.form
		s.lay(again)
		second, err := s.desk().Encode()
		if err != nil || form != s.form || !bytes.Equal(first, second) {
			t.Fatalf("%v\n%s\n%s", err, first, second)
		}
	})
}

// FuzzTemplates: every template that the parser accepts can be opened.
func FuzzTemplates(f *testing.F) {
	r := newRig(f)
	filledSwap(r)
	b, err := compose.EncodeTemplates([]compose.Template{{Name: "one", Exchange: r.s.x[intent.KindSwap]},
		{Name: "two", Calls: r.s.b}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(_ *testing.T, raw []byte) {
		list, err := r.s.ParseTemplates(raw)
		if err != nil {
			return
		}
		for _, t := range list {
			r.s.useTemplate(t)
			_, _ = r.s.freeze()
			draw(r.s)
		}
	})
}

// FuzzImport: a document that is accepted becomes exactly its calls, or mistakes at the fields.
func FuzzImport(f *testing.F) {
	for _, to := range []func(*rig){filledTransfer, filledSwap, func(r *rig) { r.press("d") }} {
		r := newRig(f)
		to(r)
		b, err := r.frozen().MarshalJSON()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	r := newRig(f)
	r.press("d")
	batch, err := intent.ToSafe(r.frozen().Draft(), r.now)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(batch)
	f.Add([]byte(
		`{"version":1,"targetChain":"eip155:10","calls":[{"to":"0x01","data":"0xabc","value":"0x5",` +
			`"function":"f(uint256)"}],"overrides":[{"address":"x","balance":"y","stateDiff":{"a":"b"}}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		in, err := compose.ReadDocument(raw)
		if err != nil {
			return
		}
		r.s.fill(in.Draft)
		draw(r.s)
		if r.s.form != formCalls {
			return
		}
		made, ok := r.s.freeze()
		if !ok {
			return
		}
		for i, want := range in.Draft.Calls {
			got := made.Draft().Calls[i]
			if !strings.EqualFold(got.To, want.To) ||
				!strings.EqualFold(strings.TrimPrefix(got.Data, "0x"), strings.TrimPrefix(want.Data, "0x")) {
				t.Fatalf("call %d of the file is %+v, of the form %+v", i, want, got)
			}
		}
	})
}
