package roles

import (
	"errors"
	"testing"

	"coffer/ui/cli"
)

func TestNoAdminSignsOnAChangedNetworkThatNobodyConfirmed(t *testing.T) {
	why := errors.New("the network has changed")
	h := &holder{Wallet: Wallet{Unconfirmed: why}}
	if _, err := (Commands{}).carryOut(t.Context(), h, cli.AdminOptions{}, nil); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
}
