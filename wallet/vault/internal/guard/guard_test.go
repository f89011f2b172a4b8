package guard

import (
	"errors"
	"testing"
)

func TestDoRunsTheFunctionOnceAndPassesItsPanicOn(t *testing.T) {
	times := 0
	Do(func() { times++ })
	if times != 1 {
		t.Fatal(times)
	}
	panicked := errors.New("inside")
	defer func() {
		if recover() == nil {
			t.Error("the panic was swallowed")
		}
	}()
	Do(func() { panic(panicked) })
}
