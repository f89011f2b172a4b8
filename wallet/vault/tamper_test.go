package vault

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/go-json-experiment/json"

	"coffer/api/secret"
)

// service is how the names of a vault's items begin in the fake ring.
func service(network string) string { return "coffer:main:" + network[2:18] + "\x00" }

// put replaces an item of the ring, whoever may have written it.
func (f *fakeRing) put(name string, value []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.items[name] = value
}

func (f *fakeRing) restore(items map[string][]byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.items = maps.Clone(items)
}

// bits returns copies of b with one bit turned, at a spread of places.
func bits(b []byte, places int) [][]byte {
	var out [][]byte
	for i := range places {
		c := bytes.Clone(b)
		c[i*len(c)/places] ^= 1
		out = append(out, c)
	}
	return out
}

func TestEveryChangedRecordIsNoticed(t *testing.T) {
	for _, backend := range []Backend{BackendKeyring, BackendKeyringOnly} {
		b := newBench(t)
		v := b.created(t, backend)
		item := mustAdd(t, v, EVM, "k")
		if err := v.SetAPIKey(t.Context(), secret.New([]byte("api"))); err != nil {
			t.Fatal(err)
		}
		sound := b.ring.copyOf()
		key, api := service(here)+v.keys.recordName(item.Address), service(here)+nameAPIKey
		never := func(secret.Secret) error { t.Error("lent"); return nil }
		for _, bad := range append(bits(sound[key], 40), nil, []byte("x"), sound[key][:20],
			append(bytes.Clone(sound[key]), 'A')) {
			b.ring.put(key, bad)
			want(t, v.Use(t.Context(), here, item.Address, never), ErrDamaged)
			_, err := v.Items(t.Context())
			want(t, err, ErrDamaged)
			_, err = v.Backup(t.Context(), pass())
			want(t, err, ErrDamaged)
		}
		b.ring.restore(sound)
		for _, bad := range append(bits(sound[api], 20), nil, sound[key]) { // the last one is a record from elsewhere
			b.ring.put(api, bad)
			want(t, v.APIKey(t.Context(), never), ErrDamaged)
		}
		b.ring.restore(sound)
		b.ring.put(key, sound[api])
		want(t, v.Use(t.Context(), here, item.Address, never), ErrDamaged)
		b.ring.restore(sound)
		if err := b.ring.Delete("coffer:main:"+here[2:18], v.keys.recordName(item.Address)); err != nil {
			t.Fatal(err)
		}
		_, err := v.Items(t.Context())
		want(t, err, ErrDamaged)
		want(t, v.Use(t.Context(), here, item.Address, never), ErrNoKey)
	}
}

func TestEveryChangedHeadIsNoticed(t *testing.T) {
	b := newBench(t)
	v := b.created(t, BackendKeyring)
	mustAdd(t, v, EVM, "k")
	sound := b.ring.copyOf()
	name := service(here) + nameHead
	for i, bad := range append(bits(sound[name], 80), nil, []byte("{}"), []byte("[]"), sound[name][:50]) {
		b.ring.put(name, bad)
		v.Lock()
		if err := v.Unlock(t.Context(), pass()); err == nil || !v.Locked() {
			t.Errorf("change %d was not noticed", i)
		}
	}
	b.ring.restore(sound)
	if err := v.Unlock(t.Context(), pass()); err != nil {
		t.Fatal(err)
	}
}

func TestKeysThatChangePlacesAreNoticed(t *testing.T) {
	b := newBench(t)
	v := b.created(t, BackendKeyring)
	one, two := mustAdd(t, v, EVM, "one"), mustAdd(t, v, EVM, "two")
	names := [2]string{service(here) + v.keys.recordName(one.Address), service(here) + v.keys.recordName(two.Address)}
	sound := b.ring.copyOf()
	b.ring.put(names[0], sound[names[1]])
	b.ring.put(names[1], sound[names[0]])
	for _, item := range []Item{one, two} {
		want(t, v.Use(t.Context(), here, item.Address, func(secret.Secret) error { t.Error("lent"); return nil }),
			ErrDamaged)
	}
	_, err := v.Items(t.Context())
	want(t, err, ErrDamaged)
}

// reseal writes a record that has the right seal and the wrong content, as only a faulty program could.
func reseal(t *testing.T, b *bench, v *Vault, name string, m meta, key []byte) {
	t.Helper()
	plain, err := encodeRecord(m, key)
	if err != nil {
		t.Fatal(err)
	}
	text, err := v.keys.seal64(v.random, v.network, name, plain)
	if err != nil {
		t.Fatal(err)
	}
	b.ring.put(service(here)+name, text)
}

func TestARecordWithTheRightSealIsStillChecked(t *testing.T) {
	b := newBench(t)
	v := b.created(t, BackendKeyring)
	item, other := mustAdd(t, v, EVM, "k"), mustAdd(t, v, EVM, "other")
	name := v.keys.recordName(item.Address)
	good := meta{Kind: EVM, Address: item.Address, Network: here}
	never := func(secret.Secret) error { t.Error("lent"); return nil }
	for what, c := range map[string]struct {
		change func(*meta)
		key    []byte
		err    error
	}{
		"another network":      {func(m *meta) { m.Network = elsewhere }, raw("k"), ErrNetwork},
		"another key":          {func(*meta) {}, raw("other"), ErrDamaged},
		"another address":      {func(m *meta) { m.Address = other.Address }, raw("other"), ErrDamaged},
		"another kind":         {func(m *meta) { m.Kind = Solana }, raw("k"), ErrDamaged},
		"no kind":              {func(m *meta) { m.Kind = "paper" }, raw("k"), ErrDamaged},
		"a short key":          {func(*meta) {}, raw("k")[:31], ErrDamaged},
		"no key":               {func(*meta) {}, nil, ErrDamaged},
		"an unprintable label": {func(m *meta) { m.Label = "\x1b[2J" }, raw("k"), ErrDamaged},
	} {
		m := good
		c.change(&m)
		reseal(t, b, v, name, m, c.key)
		if err := v.Use(t.Context(), here, item.Address, never); !errors.Is(err, c.err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	reseal(t, b, v, name, good, raw("k"))
	lent(t, v, item.Address, "k")
	for _, m := range []meta{{Kind: kindAPIKey, Network: elsewhere}, {Kind: EVM, Network: here}} {
		reseal(t, b, v, nameAPIKey, m, []byte("api"))
		if err := v.APIKey(t.Context(), never); !errors.Is(err, ErrNetwork) && !errors.Is(err, ErrDamaged) {
			t.Errorf("%+v: %v", m, err)
		}
	}
	reseal(t, b, v, nameAPIKey, meta{Kind: kindAPIKey, Network: here}, []byte("with space "))
	want(t, v.APIKey(t.Context(), never), ErrDamaged)
	for _, plain := range [][]byte{nil, {1}, {2, 0, 0}, {1, 0, 9}, {1, 0, 1, '{'},
		append([]byte{1, 0, 7}, `{"x":1}`...)} {
		text, err := v.keys.seal64(v.random, here, name, plain)
		if err != nil {
			t.Fatal(err)
		}
		b.ring.put(service(here)+name, text)
		want(t, v.Use(t.Context(), here, item.Address, never), ErrDamaged)
	}
}

func TestAVaultOfAnotherNetworkOrProfileStaysApart(t *testing.T) {
	eachBackend(t, func(t *testing.T, b *bench, backend Backend) {
		v := b.created(t, backend)
		item := mustAdd(t, v, EVM, "k")
		foreign := b.open(t, backend, func(o *Options) { o.NetworkID = elsewhere })
		want(t, foreign.Unlock(t.Context(), passOf(backend)), ErrNotSetUp)
		want(t, b.open(t, backend, func(o *Options) { o.Profile = "other" }).Unlock(t.Context(), passOf(backend)),
			ErrNotSetUp)
		if err := foreign.Create(t.Context(), passOf(backend)); err != nil {
			t.Fatal(err)
		}
		want(t, foreign.Use(t.Context(), elsewhere, item.Address,
			func(secret.Secret) error { t.Error("lent"); return nil }), ErrNoKey)
		lent(t, v, item.Address, "k")
	})
	// Somebody copies one network's items to the name of the other.
	b := newBench(t)
	v := b.created(t, BackendKeyring)
	mustAdd(t, v, EVM, "k")
	for name, value := range b.ring.copyOf() {
		b.ring.put(service(elsewhere)+strings.TrimPrefix(name, service(here)), value)
	}
	foreign := b.open(t, BackendKeyring, func(o *Options) { o.NetworkID = elsewhere })
	want(t, foreign.Unlock(t.Context(), pass()), ErrNetwork)
	head := b.ring.copyOf()[service(here)+nameHead]
	b.ring.put(service(elsewhere)+nameHead, bytes.ReplaceAll(head, []byte(here), []byte(elsewhere)))
	want(t, foreign.Unlock(t.Context(), pass()), ErrDamaged)
}

func TestTheWayAVaultIsProtectedCannotBeSwapped(t *testing.T) {
	b := newBench(t)
	only := b.created(t, BackendKeyringOnly)
	mustAdd(t, only, EVM, "planted")
	both := b.open(t, BackendKeyring)
	want(t, both.Unlock(t.Context(), pass()), ErrBackend) // a planted head without a passphrase
	name := service(here) + nameHead
	b.ring.put(name, bytes.Replace(b.ring.copyOf()[name], []byte(`"none"`), []byte(`"passphrase"`), 1))
	if err := both.Unlock(t.Context(), pass()); err == nil {
		t.Error("a head with another word in it opened")
	}
	b = newBench(t)
	b.created(t, BackendKeyring)
	want(t, b.open(t, BackendKeyringOnly).Unlock(t.Context(), secret.Secret{}), ErrBackend)
}

// documentWith makes an age document whose header asks for scrypt work of 2^work.
func documentWith(t *testing.T, work int) []byte {
	t.Helper()
	doc, err := encrypt(make([]byte, keySize), pass(), 10)
	if err != nil {
		t.Fatal(err)
	}
	out := bytes.Replace(doc, []byte(" 10\n"), fmt.Appendf(nil, " %d\n", work), 1)
	if bytes.Equal(out, doc) {
		t.Fatal("the header was not found")
	}
	return out
}

func TestKR6AHeaderThatAsksForTooMuchWorkIsRefusedBeforeAnyIsDone(t *testing.T) {
	b := newBench(t)
	v := b.created(t, BackendKeyring)
	name := service(here) + nameHead
	for _, work := range []int{21, 30, 62, 1 << 40} {
		var h head
		if err := json.Unmarshal(b.ring.copyOf()[name], &h); err != nil {
			t.Fatal(err)
		}
		h.Key = documentWith(t, work)
		text, err := h.encode()
		if err != nil {
			t.Fatal(err)
		}
		b.ring.put(name, text)
		began := time.Now()
		want(t, v.Unlock(t.Context(), pass()), ErrWork)
		if took := time.Since(began); took > time.Second {
			t.Errorf("work 2^%d took %s", work, took)
		}
		_, err = v.Restore(t.Context(), documentWith(t, work), pass())
		want(t, err, ErrWork)
	}
	for _, work := range []string{"x", "-1", "010", "99999999999999999999"} {
		doc := bytes.Replace(documentWith(t, 11), []byte(" 11\n"), []byte(" "+work+"\n"), 1)
		if _, err := decrypt(doc, pass()); err == nil {
			t.Errorf("work %q was accepted", work)
		}
	}
}

func TestADocumentThatIsNotUnderAPassphraseIsRefused(t *testing.T) {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := age.Encrypt(&out, identity.Recipient())
	if err == nil {
		_, err = w.Write(make([]byte, keySize))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	_, err = decrypt(out.Bytes(), pass())
	want(t, err, ErrDamaged)
	_, err = decrypt([]byte("age-encryption.org/v1\n"), pass())
	want(t, err, ErrDamaged)
	_, err = decrypt(out.Bytes(), secret.Secret{})
	want(t, err, ErrPassphrase)
	doc, err := encrypt(make([]byte, 100), pass(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for cut := 1; cut <= 100+16+16; cut++ { // in the payload, at its beginning, in the nonce
		_, err = decrypt(doc[:len(doc)-cut], pass())
		want(t, err, ErrDamaged)
	}
	if _, err := encrypt(nil, secret.Secret{}, 1); !errors.Is(err, ErrWeakPassphrase) {
		t.Error(err)
	}
	if _, err := deriveKeys(make([]byte, 31)); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
}

func TestAnIndexThatDoesNotAddUpIsRefused(t *testing.T) {
	b := newBench(t)
	v := b.created(t, BackendKeyring)
	h, err := v.head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, plain := range [][]byte{nil, {1, 0}, {2, 0, 0}, {1, 1, 0}, {1, 0, 0, 0},
		append([]byte{1, 0, 1}, make([]byte, 17)...)} {
		text, err := v.keys.seal64(v.random, here, nameHead+" "+wrapPassphrase, plain)
		if err != nil {
			t.Fatal(err)
		}
		h.Index = string(text)
		if _, err := v.keys.openIndex(h); !errors.Is(err, ErrDamaged) {
			t.Errorf("%v: %v", plain, err)
		}
	}
	if _, err := v.keys.sealIndex(v.random, h, index{names: []string{"no hex"}}); err == nil {
		t.Error("a name that is none was sealed")
	}
	text, err := h.encode()
	if err != nil {
		t.Fatal(err)
	}
	_, err = parseHead(bytes.Replace(text, []byte(`"coffer_vault":1`), []byte(`"coffer_vault":2`), 1))
	if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "version 2") {
		t.Error(err)
	}
	if base64.RawStdEncoding.DecodedLen(len(h.Index)) > maxValue {
		t.Error("an index larger than an item")
	}
}

// failing makes the nth call that changes the ring fail, and all after it.
func failing(b *bench, nth int) {
	changes := 0
	b.ring.hinder(func(call, _ string) error {
		if call == "get" {
			return nil
		}
		if changes++; changes > nth {
			return errors.New("the power is gone")
		}
		return nil
	})
}

func TestAChangeThatIsCutShortIsFinishedOrHasNotHappened(t *testing.T) {
	for nth := range 4 {
		b := newBench(t)
		v := b.created(t, BackendKeyring)
		stays := mustAdd(t, v, EVM, "stays")

		failing(b, nth)
		_, addErr := v.Add(t.Context(), EVM, secret.New(raw("new")), "")
		b.ring.hinder(nil)
		again := b.open(t, BackendKeyring)
		if err := again.Unlock(t.Context(), pass()); err != nil {
			t.Fatal(nth, err)
		}
		lent(t, again, stays.Address, "stays")
		if _, err := again.Add(t.Context(), EVM, secret.New(raw("new")), ""); (err == nil) == (addErr == nil) {
			t.Errorf("cut after %d: first %v, then %v", nth, addErr, err)
		}
		items, err := again.Items(t.Context())
		if err != nil || len(items) != 2 {
			t.Fatal(nth, items, err)
		}

		gone := items[0]
		if gone == stays {
			gone = items[1]
		}
		failing(b, nth)
		removeErr := again.Remove(t.Context(), gone.Address)
		b.ring.hinder(nil)
		third := b.open(t, BackendKeyring)
		if err := third.Unlock(t.Context(), pass()); err != nil {
			t.Fatal(nth, err)
		}
		items, err = third.Items(t.Context())
		if err != nil || nth == 0 && len(items) != 2 || nth > 0 && (len(items) != 1 || items[0] != stays) {
			t.Errorf("cut after %d (%v): %v %v", nth, removeErr, items, err)
		}
		if nth > 0 {
			if held := len(b.ring.copyOf()); held != 2 { // the head and the key that stays
				t.Errorf("cut after %d: %d items are left behind", nth, held)
			}
		}
	}
}

func TestARemovalThatCannotBeFinishedIsTriedAgain(t *testing.T) {
	b := newBench(t)
	v := b.created(t, BackendKeyring)
	gone, stays := mustAdd(t, v, EVM, "gone"), mustAdd(t, v, EVM, "stays")
	failing(b, 1) // the list forgets the key, the record stays
	if err := v.Remove(t.Context(), gone.Address); err == nil || !strings.Contains(err.Error(), "not finished") {
		t.Fatal(err)
	}
	failing(b, 0)
	v.Lock()
	if err := v.Unlock(t.Context(), pass()); err != nil {
		t.Fatal("a key that cannot be deleted keeps the others locked up", err)
	}
	lent(t, v, stays.Address, "stays")
	b.ring.hinder(nil)
	if err := v.Remove(t.Context(), gone.Address); err != nil { // by hand
		t.Fatal(err)
	}
	want(t, v.Use(t.Context(), here, gone.Address, func(secret.Secret) error { return nil }), ErrNoKey)
	failing(b, 1)
	_ = v.Remove(t.Context(), stays.Address)
	b.ring.hinder(nil)
	mustAdd(t, v, EVM, "stays") // taken up again while it was leaving
	v.Lock()
	if err := v.Unlock(t.Context(), pass()); err != nil {
		t.Fatal(err)
	}
	lent(t, v, stays.Address, "stays")
}
