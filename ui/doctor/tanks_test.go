package doctor

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

func TestAGasTankThatIsLowIsPointedOut(t *testing.T) {
	d := Deps{Clock: time.Now, Tanks: func(context.Context) ([]Tank, error) {
		return []Tank{{"Base", "0.01 ETH", 160}, {"Optimism", "0 ETH", 0}, {"Linea", "0.001 ETH", 1}},
			errors.New("Polygon: no answer")
	}}
	d.Network.Pins.Operator = common.Address{7}
	var found []Finding
	for _, f := range Run(t.Context(), d) {
		if f.Name == "gas" {
			found = append(found, f)
		}
	}
	if len(found) != 4 || found[0].Level != Good || found[0].Todo != "" ||
		!strings.HasSuffix(found[0].Text, "0.01 ETH on Base, good for about 160 operations") ||
		found[1].Level != Warn || !strings.Contains(found[1].Todo, d.Network.Pins.Operator.Hex()) ||
		!strings.HasSuffix(found[2].Text, "about 1 operation") || found[3].Level != Unknown {
		t.Errorf("%+v", found)
	}
}

func TestAGasTankThatStoppedIsPointedOutWithWhatLetsItGoOn(t *testing.T) {
	d := Deps{Clock: time.Now, Lanes: func(context.Context) ([]Lane, error) {
		return []Lane{{ChainID: 1, Chain: "Ethereum"},
			{ChainID: 8453, Chain: "Base", Stopped: true, Why: "nonce 7 was used"},
			{ChainID: 10, Chain: "Optimism", Why: "the chain has seen 3"}}, nil
	}}
	d.Profile.Name = "own"
	var found []Finding
	for _, f := range Run(t.Context(), d) {
		if f.Name == "gas" {
			found = append(found, f)
		}
	}
	if len(found) != 2 || found[0].Level != Bad || !strings.Contains(found[0].Text, "Base: nonce 7 was used") ||
		!strings.Contains(found[0].Todo, "coffer network resume 8453 --profile own") || found[1].Level != Warn {
		t.Errorf("%+v", found)
	}
}
