package solmsg

import (
	"errors"
	"testing"
)

func TestPanicsOfTheLibraryBecomeRefusals(t *testing.T) {
	var indexes []int
	err := guard(func() error { _ = indexes[len(indexes)]; return nil })
	var refused *Error
	if !errors.As(err, &refused) || refused.Code != "S1" {
		t.Errorf("got %v", err)
	}
	if err := guard(func() error { return nil }); err != nil {
		t.Errorf("a call that worked was refused: %v", err)
	}
}
