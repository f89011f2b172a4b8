//go:build !linux && !darwin && !windows

package metrics

// system knows nothing here.
func system() map[string]float64 { return nil }
