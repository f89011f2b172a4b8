package linear

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/gastank"
	"coffer/api/network"
)

// TestTheGasTankIsSaidWithTheAccounts: with what it has and what it lacks, or that this is not known.
func TestTheGasTankIsSaidWithTheAccounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		at := common.HexToAddress(payee)
		n := &r.opts.Context.Network
		n.Version, n.Kind, n.Deployments, n.Pins = 2, network.Lab, nil, network.Pins{Operator: at,
			Paymaster: network.Window()}
		has, some, no := "1500000000000000000", uint64(160), uint64(0)
		var err error
		r.opts.Deps.Tank = func(context.Context) (gastank.Report, error) {
			return gastank.Report{Most: 100, Chains: []gastank.Chain{
				{ID: 8453, Name: "Base", Symbol: "ETH", Has: &has, Operations: &some},
				{ID: 137, Name: "Polygon", Symbol: "POL", Operations: &no}}}, err
		}
		r.begins()
		r.wants(r.types("accounts"), "Gas tank: ", "Base (8453): 1.5 ETH, for about 160 operations",
			"Polygon (137): Warning: unknown, not enough for one operation")
		err = errors.New("gone")
		r.wants(r.types("accounts"), "What it has is not known: gone")
		if err := r.ends(); err != nil {
			t.Error(err)
		}
	})
}
