package profile

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/network"
)

// TestEverythingThatAnOperatorReplacesIsShownWithWhatItWas: every field of a descriptor that the id does not cover, by
// reflection, so that a new one is not forgotten.
func TestEverythingThatAnOperatorReplacesIsShownWithWhatItWas(t *testing.T) {
	full := func() network.Descriptor {
		n := generation(t, "0x01", 1)
		n.Deployments = append(n.Deployments, n.Deployments[0])
		n.Deployments[1].From, n.Deployments[1].Attesters = 60, []common.Address{{2}, {3}}
		n.Formulas = []network.Formula{{Name: "V", Version: "1", Formula: "f"}}
		n.Pins.SolanaVault, n.Pins.SolanaSponsor = "vault", "sponsor"
		return n
	}
	tried := 0
	var change func(name string, of func(*network.Descriptor) reflect.Value)
	change = func(name string, of func(*network.Descriptor) reflect.Value) {
		was, now := full(), full()
		v := of(&now)
		switch x := v.Addr().Interface().(type) {
		case *common.Address:
			*x = common.Address{0xee, 0xee}
		case *string:
			*x = "another"
		case *int:
			*x = 2
		case *int64:
			*x += 86_400
		default:
			for i := range v.NumField() {
				change(name+"."+v.Type().Field(i).Name,
					func(n *network.Descriptor) reflect.Value { return of(n).Field(i) })
			}
			return
		case *[]common.Address:
			*x = []common.Address{{9}}
		}
		tried++
		words := strings.Join(replaced(now, &was).Words, "\n")
		if name == "Pins.Escrow" { // always that of the deployment in use
			return
		}
		if value := fmt.Sprint(v.Interface()); !strings.Contains(words, "instead of") || v.Kind() != reflect.Int64 &&
			!strings.Contains(words, strings.Trim(value, "[]")) {
			t.Errorf("%s is %s, and is not told:\n%s", name, value, words)
		}
	}
	change("Pins", func(n *network.Descriptor) reflect.Value { return reflect.ValueOf(n).Elem().FieldByName("Pins") })
	for i := range 2 {
		change(fmt.Sprintf("Deployments[%d]", i),
			func(n *network.Descriptor) reflect.Value { return reflect.ValueOf(&n.Deployments[i]).Elem() })
	}
	change("Formulas[0]", func(n *network.Descriptor) reflect.Value { return reflect.ValueOf(&n.Formulas[0]).Elem() })
	if tried < 15+2*5+4 {
		t.Errorf("%d fields tried", tried)
	}
}

func TestOnlyWhatChangedIsShownAndNothingScrollsAway(t *testing.T) {
	was := generation(t, "0x01", 1)
	now := generation(t, "0x01", 2)
	if lines := differences(was, now); len(lines) != 2 || !strings.Contains(lines[0], common.Address{2}.Hex()) ||
		!strings.Contains(lines[1], "instead of "+common.Address{1}.Hex()) {
		t.Errorf("%q", lines)
	}
	if lines := differences(network.Descriptor{}, now); len(lines) < 15 ||
		!strings.Contains(lines[2], common.Address{2}.Hex()) {
		t.Errorf("of a network that nobody confirmed %q", lines)
	}
	for range 100 {
		d := now.Deployments[len(now.Deployments)-1]
		d.From++
		now.Deployments = append(now.Deployments, d)
	}
	now.Pins.SolanaVault = "a\x1b[2Jb\nvault"
	lines := differences(was, now)
	text := strings.Join(lines, "\n")
	if len(lines) > maxLines+1 || strings.Contains(text, "\x1b") || !strings.Contains(text, "vault") ||
		!strings.Contains(text, "more lines") {
		t.Errorf("%d lines:\n%s", len(lines), text)
	}
}

// TestAConfirmationThatCannotBeReadIsAskedForAgain, on an embedded network, too.
func TestAConfirmationThatCannotBeReadIsAskedForAgain(t *testing.T) {
	m := newMachine(t)
	n := generation(t, "0x01", 1)
	o := m.open(n)
	m.live(o)
	one, err := shipped(t).Encode() // of version 1, which nobody is asked about
	if err := errors.Join(err, o.anchorsOf(n.ID).Save(confirmedName, one)); err != nil {
		t.Fatal(err)
	}
	if m.open(n).Change() == nil {
		t.Error("another network was taken for the one that was confirmed")
	}
	if err := o.anchorsOf(n.ID).Save(confirmedName, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	again := m.open(n)
	if _, refuses := again.Signer().(refusing); !refuses || again.Change() == nil ||
		!strings.Contains(again.Change().Words[0], "cannot be read") {
		t.Fatalf("%+v", again.Change())
	}
	if err := again.Confirm(t.Context(), "yes"); err != nil {
		t.Fatal(err)
	}
	if m.open(n).Change() != nil {
		t.Error("asked once more")
	}
}
