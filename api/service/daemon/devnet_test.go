package daemon

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"
	"github.com/tyler-smith/go-bip39"
)

// devnetOf starts a devnet and returns what it printed first, and how to stop it.
func devnetOf(t *testing.T, o DevnetOptions) (printed *bufio.Reader, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	o.Listen, o.Out, o.Log = "127.0.0.1:0", w, io.Discard
	ended := make(chan error, 1)
	go func() {
		err := Devnet(ctx, o)
		_ = w.CloseWithError(errors.Join(err, io.EOF))
		ended <- err
	}()
	return bufio.NewReader(r), func() error { cancel(); return <-ended }
}

func TestADevnetInMemoryLeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	out, stop := devnetOf(t, DevnetOptions{JSON: true, Fund: []string{"0x00000000000000000000000000000000000a11ce",
		"Gh9ZwEmdLJ8DscKNTkTqPbNwLNNBjuSzaG9Vp2KGtKJr"}})
	var first devReach
	if err := json.Unmarshal([]byte(line(t, out)), &first); err != nil {
		t.Fatal(err)
	}
	if len(first.Accounts) != 10 || len(first.Endpoints) < 9 || first.APIKey == "" ||
		!strings.HasPrefix(first.BaseURL, "https://127.0.0.1:") {
		t.Errorf("%+v", first)
	}
	for _, file := range []string{first.CAFile, first.NetworkFile} {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestADevnetWithDataGoesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "devnet")
	network := ""
	for range 2 {
		out, stop := devnetOf(t, DevnetOptions{Dir: dir})
		var said strings.Builder
		for !strings.Contains(said.String(), "end      ") {
			said.WriteString(line(t, out))
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		text := said.String()
		for _, part := range []string{"http://127.0.0.1:", "/solana", "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
			"coffer profile add devnet --kind lab", "the data stay"} {
			if !strings.Contains(text, part) {
				t.Errorf("%q is missing in\n%s", part, text)
			}
		}
		raw, err := os.ReadFile(filepath.Join(dir, "network.json"))
		if err != nil || network != "" && network != string(raw) {
			t.Errorf("another network, or %v", err)
		}
		network = string(raw)
	}
}

func TestADevnetRefusesWhatItCannotDo(t *testing.T) {
	for name, o := range map[string]DevnetOptions{
		"listen":  {Listen: "0.0.0.0:0"},
		"service": {Listen: "127.0.0.1:0", Service: "0.0.0.0:0"},
		"fund":    {Listen: "127.0.0.1:0", Fund: []string{"0x1"}},
		"no port": {Listen: "127.0.0.1"},
	} {
		o.Dir, o.Out, o.Log = filepath.Join(t.TempDir(), "data"), io.Discard, io.Discard
		var wrong *OptionError
		if err := Devnet(t.Context(), o); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(o.Dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the directory was made", name)
		}
	}
}

// The accounts are those that the words give by BIP-39, BIP-32 and BIP-44.
func TestTheAccountsOfADevnetAreThoseOfItsWords(t *testing.T) {
	seed := bip39.NewSeed("test test test test test test test test test test test junk", "")
	key, code := derive([]byte("Bitcoin seed"), seed)
	const hardened = 1 << 31
	for _, i := range []uint32{44 + hardened, 60 + hardened, hardened, 0} {
		key, code = child(t, key, code, i)
	}
	for i, a := range devAccounts() {
		want, _ := child(t, key, code, uint32(i))
		if a.PrivateKey != hexutil.Encode(want) {
			t.Errorf("account %d: %s, expected %x", i, a.PrivateKey, want)
		}
		k, err := crypto.ToECDSA(want)
		if err != nil || a.Address != crypto.PubkeyToAddress(k.PublicKey).Hex() || a.Address != a.at.Hex() {
			t.Errorf("account %d: %s, %v", i, a.Address, err)
		}
	}
}

func derive(key, data []byte) (left, right []byte) {
	h := hmac.New(sha512.New, key)
	h.Write(data)
	sum := h.Sum(nil)
	return sum[:32], sum[32:]
}

// child derives a private key of BIP-32.
func child(t *testing.T, key, code []byte, i uint32) ([]byte, []byte) {
	t.Helper()
	data := append([]byte{0}, key...)
	if i < 1<<31 {
		k, err := crypto.ToECDSA(key)
		if err != nil {
			t.Fatal(err)
		}
		data = crypto.CompressPubkey(&k.PublicKey)
	}
	left, right := derive(code, binary.BigEndian.AppendUint32(data, i))
	sum := new(big.Int).Add(new(big.Int).SetBytes(left), new(big.Int).SetBytes(key))
	return sum.Mod(sum, crypto.S256().Params().N).FillBytes(make([]byte, 32)), right
}

func TestAServedLabSaysWhereItsEndpointsAre(t *testing.T) {
	o := Options{Dir: t.TempDir(), JSON: true, Log: io.Discard}
	o.RPC.Listen = "127.0.0.1:0"
	out, stop := running(t, o)
	var first reach
	if err := json.Unmarshal([]byte(line(t, out)), &first); err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if len(first.Endpoints) < 9 || !strings.HasSuffix(first.Endpoints[0].HTTP, fmt.Sprint("/", first.Endpoints[0].ID)) {
		t.Errorf("%+v", first.Endpoints)
	}
	o.JSON = false
	out, stop = running(t, o)
	var said strings.Builder
	for !strings.Contains(said.String(), "/solana") {
		said.WriteString(line(t, out))
	}
	if !strings.Contains(said.String(), "rpc      http://127.0.0.1:") {
		t.Error(said.String())
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	o.Dir, o.RPC.Listen = filepath.Join(o.Dir, "other"), "0.0.0.0:8545"
	var wrong *OptionError
	if err := Run(t.Context(), o); !errors.As(err, &wrong) {
		t.Errorf("endpoints for everybody: %v", err)
	}
}
