package config

import (
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"

	"coffer/api/files"
	"coffer/api/network"
)

// Network reads network_file and returns the network it describes, which must match network_id where that is set. The
// kind is the profile's: the user declares it, the service cannot. From version 2 on the network's id covers the kind,
// so another one in the file is an error. Network refuses a file or directory that other
// users may write, as Load does for the configuration (TH-C3).
func (p Profile) Network() (network.Descriptor, error) {
	raw, err := os.ReadFile(p.NetworkFile)
	if err != nil {
		return network.Descriptor{}, fmt.Errorf("network file: %w", err)
	}
	if err := CheckMode(p.NetworkFile); err != nil {
		return network.Descriptor{}, err
	}
	n, err := network.Decode(raw)
	if err != nil {
		return network.Descriptor{}, fmt.Errorf("%s: %w", p.NetworkFile, err)
	}
	if p.NetworkID != "" && p.NetworkID != n.ID {
		return network.Descriptor{}, fmt.Errorf("%s describes network %s, the profile names %s", p.NetworkFile, n.ID,
			p.NetworkID)
	}
	if n.Version > 1 && n.Kind != p.Kind {
		return network.Descriptor{}, fmt.Errorf("%s describes a network of kind %s, the profile says kind %s",
			p.NetworkFile,
			n.Kind, p.Kind)
	}
	n.Kind = p.Kind
	return n, nil
}

// Roots reads ca_file, the certificate authority of the profile's service; without one the result is nil and the
// system's authorities apply. Roots refuses a file or directory that other users may write.
func (p Profile) Roots() (*x509.CertPool, error) {
	if p.CAFile == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(p.CAFile)
	if err != nil {
		return nil, fmt.Errorf("ca_file: %w", err)
	}
	if err := CheckMode(p.CAFile); err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("ca_file: %s holds no certificate", p.CAFile)
	}
	return roots, nil
}

// CheckMode refuses a file that another user may write, or whose directory another user may write (TH-C3): a user who
// can change the base URL or the network can change where keys and signatures go. Where files have no modes it checks
// nothing.
func CheckMode(path string) error {
	for _, p := range []string{path, filepath.Dir(path)} {
		info, err := os.Stat(p)
		if err != nil {
			return fmt.Errorf("read configuration: %w", err)
		}
		if problem := files.Changeable(p, info); problem != "" {
			return &Error{Path: p, Problem: problem}
		}
	}
	return nil
}
