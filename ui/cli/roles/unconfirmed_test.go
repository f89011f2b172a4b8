package roles

import (
	"errors"
	"testing"

	"coffer/ui/cli"
)

func TestNoAdminSignsOnAChangedNetworkThatNobodyConfirmed(t *testing.T) {
	why := errors.New("the network has changed")
	h := &holder{Wallet: Wallet{Unconfirmed: why}}
	for _, o := range []cli.AdminOptions{{}, {Print: true}} { // what is printed is signed before
		if _, err := (Commands{}).carryOut(t.Context(), h, o, nil); !errors.Is(err, why) {
			t.Errorf("%v", err)
		}
	}
}
