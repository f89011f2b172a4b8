package config

import (
	"crypto/x509"
	"fmt"
	"os"

	"coffer/api/network"
)

// Network reads network_file and returns the network that it describes, which must be the one of network_id where that is set. The kind is the
// profile's: the user declares it, the service cannot. A file or directory that others may write is refused, as of the configuration itself (TH-C3).
func (p Profile) Network() (network.Descriptor, error) {
	raw, err := os.ReadFile(p.NetworkFile)
	if err != nil {
		return network.Descriptor{}, fmt.Errorf("network file: %w", err)
	}
	if err := checkMode(p.NetworkFile); err != nil {
		return network.Descriptor{}, err
	}
	n, err := network.Decode(raw)
	if err != nil {
		return network.Descriptor{}, fmt.Errorf("%s: %w", p.NetworkFile, err)
	}
	if p.NetworkID != "" && p.NetworkID != n.ID {
		return network.Descriptor{}, fmt.Errorf("%s describes network %s, the profile names %s", p.NetworkFile, n.ID, p.NetworkID)
	}
	n.Kind = p.Kind
	return n, nil
}

// Roots reads ca_file, the certificate authority of the profile's service; without one the result is nil: those of the system hold. A file or
// directory that others may write is refused.
func (p Profile) Roots() (*x509.CertPool, error) {
	if p.CAFile == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(p.CAFile)
	if err != nil {
		return nil, fmt.Errorf("ca_file: %w", err)
	}
	if err := checkMode(p.CAFile); err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("ca_file: %s holds no certificate", p.CAFile)
	}
	return roots, nil
}

// CheckMode refuses a file that somebody else may write, or whose directory they may write (TH-C3); nothing is checked where files have no modes.
func CheckMode(path string) error { return checkMode(path) }
