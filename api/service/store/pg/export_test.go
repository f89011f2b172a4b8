package pg

// Waiting is how many Updates wait for their turn.
func (s *Store) Waiting() int { return int(s.waiting.Load()) }
