package kit

// ToUnseen scrolls to the first line that was never on the screen, with the line before it at the top, and reports
// whether there is one. It reaches the lines that a jump to the end skipped.
func (s *Scroll) ToUnseen() bool {
	for i, ok := range s.seen {
		if !ok {
			s.Move(max(0, i-1) - s.top)
			return true
		}
	}
	return false
}
