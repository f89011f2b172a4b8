package term

import "testing"

func TestACutKeepsItsMarkInASCII(t *testing.T) {
	if got := foldASCII("end of history…  日", "~"); got != "end of history~  ??" {
		t.Errorf("%q", got)
	}
}
