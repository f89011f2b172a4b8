package portfolio

// Waiting counts the addresses that wait for the faucet's turn.
func Waiting(f *Faucet) int {
	f.queue.mu.Lock()
	defer f.queue.mu.Unlock()
	return len(f.queue.waiting)
}
