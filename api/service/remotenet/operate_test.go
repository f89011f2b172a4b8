package remotenet

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/network"
	"coffer/api/service/deployment"
	"coffer/api/service/store/storetest"
)

// pays is a network with an escrow of its own.
func pays(escrow byte) *Network {
	return &Network{Network: &deployment.Network{Limits: &deployment.Limits{},
		Descriptor: network.Descriptor{Version: 2, Pins: network.Pins{Escrow: common.Address{escrow}}}}}
}

// Processes that share a database serve the same network. One that waits for its turn to open serves nothing yet, and
// one that was killed is on the list for a moment.
func TestProcessesOfOneDatabaseServeTheSame(t *testing.T) { synctest.Test(t, serveTheSame) }

func serveTheSame(t *testing.T) {
	db := storetest.NewDatabase()
	first, waits, second := db.Open(), db.Open(), db.Open()
	for _, s := range []*storetest.Replica{first, second} {
		if err := pays(1).Settle(s, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := pays(2).Settle(waits, 0); !errors.Is(err, ErrBeside) {
		t.Errorf("beside others: %v", err)
	}
	first.End()
	time.AfterFunc(goneWithin/10, second.End)
	if err := pays(2).Settle(waits, 1); !errors.Is(err, ErrOpen) {
		t.Errorf("while quotes are open: %v", err)
	}
	if err := pays(2).Settle(waits, 0); err != nil {
		t.Errorf("after the others: %v", err)
	}
	if err := pays(1).Settle(db.Open(), 0); !errors.Is(err, ErrBeside) {
		t.Errorf("beside one that has gone on: %v", err)
	}
}
