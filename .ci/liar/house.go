package liar

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"time"

	"coffer/api/network"
	"coffer/api/service"
	"coffer/api/service/devnet"
	"coffer/api/service/settle/settletest"
	"coffer/api/service/store"
)

// DatabaseFile is the name of the store in a house's directory.
const DatabaseFile = "coffer.db"

// idleLimit bounds, in real time, the wait for settlements that are under way.
const idleLimit = 20 * time.Second

// House is a genuine service in process, whose keys and chains the attacker has as well.
type House struct {
	Clock   *settletest.Clock
	Network network.Descriptor

	service *service.Service
	store   store.Store
	chains  *devnet.Installation // a handle of its own on the service's store: the owner's view of everything
	honest  http.RoundTripper
	key     string
}

// OpenHouse opens a new service in a directory. Everything random in it comes from the seed. The caller closes it.
func OpenHouse(dir string, seed uint64, kind network.Kind) (*House, error) {
	s, err := store.OpenBolt(filepath.Join(dir, DatabaseFile), store.BoltOptions{Holder: "liar"})
	if err != nil {
		return nil, err
	}
	h := &House{Clock: settletest.NewClock(), store: s, key: fmt.Sprintf("%064x", seed)}
	random := settletest.Locked(rand.NewChaCha8(seedBytes(seed, "house")))
	h.service, err = service.Open(service.Options{
		Store: s, Clock: h.Clock.Now, Random: random, Kind: kind, Fund: true, Lifetime: time.Minute, APIKey: h.key,
	})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	h.chains, err = devnet.Open(s, devnet.Options{Clock: h.Clock.Now, Kind: kind})
	if err != nil {
		return nil, errors.Join(err, h.service.Close(), s.Close())
	}
	h.Network, h.honest = h.service.Network(), service.RoundTripper(h.service.Handler())
	return h, nil
}

// settle waits until no settlement is under way. One that cannot go on is left alone: it is tried again when time
// moves.
func (h *House) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, idleLimit)
	defer cancel()
	_ = h.service.Idle(ctx) // its error names quotes that stand still, which is an outcome like any other
}

// Close ends the service; the store can then be read by another program.
func (h *House) Close() error { return errors.Join(h.service.Close(), h.store.Close()) }
