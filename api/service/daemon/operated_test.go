package daemon

import (
	"errors"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/service"
	"coffer/api/service/remotenet"
)

// TestAnOperatorLearnsItsKeysBeforeAnythingIsDeployed: they stay the same, and no chain is asked for them.
func TestAnOperatorLearnsItsKeysBeforeAnythingIsDeployed(t *testing.T) {
	all, err := networks.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	all[0].RPC = []string{"https://node.invalid"}
	f := networks.File{Path: filepath.Join(t.TempDir(), networks.Name), Kind: network.Lab, Chains: all[:1],
		Operator: &networks.Operator{Owner: common.Address{1}, Threshold: 1, SponsorPerDay: new(big.Int),
			ExposureCap: new(big.Int), Anyone: true}}
	write := func() {
		if err := os.WriteFile(f.Path, f.Encode(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write()
	o := Options{Dir: t.TempDir(), Listen: "127.0.0.1:0", BasePath: "/api", Networks: f.Path, Out: io.Discard,
		Log: io.Discard}
	var known [2]*remotenet.KeysError
	for i := range known {
		var is bool
		if known[i], is = errors.AsType[*remotenet.KeysError](Run(t.Context(), o)); !is {
			t.Fatal("the keys are not said")
		}
	}
	if *known[0] != *known[1] || !strings.Contains(known[0].Error(), known[0].Attester.Hex()) {
		t.Errorf("%v, then %v", known[0], known[1])
	}
	f.Operator.Attesters = []common.Address{known[0].Attester}
	write()
	if err := Run(t.Context(), o); !errors.Is(err, remotenet.ErrMissing) {
		t.Errorf("with its attester: %v", err)
	}
	for _, wrong := range []Options{{RPC: service.NodesOptions{Listen: "127.0.0.1:0"}}, {New: true}} {
		wrong.Networks, wrong.Listen, wrong.Dir = f.Path, "127.0.0.1:0", t.TempDir()
		wrong.BasePath, wrong.Out, wrong.Log = "/api", io.Discard, io.Discard
		_, is := errors.AsType[*OptionError](Run(t.Context(), wrong))
		if left, err := os.ReadDir(wrong.Dir); !is || err != nil || len(left) > 0 {
			t.Errorf("%+v: carried out, %v", wrong, left)
		}
	}
}
