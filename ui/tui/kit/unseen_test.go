package kit

import "testing"

func TestToUnseenGoesToTheFirstLineThatWasNeverShown(t *testing.T) {
	var s Scroll
	s.Resize(3)
	s.Set([]string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"})
	s.Press("G")
	if !s.ToUnseen() || s.Top() != 2 || s.Unseen() != 2 {
		t.Fatalf("line %d at the top, %d were not shown", s.Top(), s.Unseen())
	}
	if !s.ToUnseen() || s.Top() != 4 || s.Unseen() != 0 || s.ToUnseen() || s.Top() != 4 {
		t.Fatalf("line %d at the top, %d were not shown", s.Top(), s.Unseen())
	}
}
