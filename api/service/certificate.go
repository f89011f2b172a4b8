package service

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"coffer/api/files"
)

// Names of the certificate authority's files in the data directory. The certificate is what a client trusts; the key
// stays private.
const (
	caFile    = "ca.pem"
	caKeyFile = "ca-key.pem"
)

const (
	caLife   = 10 * 365 * 24 * time.Hour
	leafLife = 397 * 24 * time.Hour // the longest that every common client accepts
	backdate = time.Hour            // for clients whose clock is behind
)

// authority is the private certificate authority of one data directory.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
	keep func(writer) error // writes a new one; nil when it was read
}

// openAuthority reads the authority of a directory, or makes it. An authority whose time is nearly over is made anew;
// clients must then take the new file.
func openAuthority(dir string, now time.Time) (*authority, error) {
	a, err := readAuthority(dir)
	if err == nil && now.Add(leafLife).Before(a.cert.NotAfter) {
		return a, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return makeAuthority(dir, now)
}

// Certified is what a service that will be served needs for TLS.
type Certified struct {
	ready chan struct{}
	ca    *authority
	leaf  tls.Certificate
	err   error
}

// Certify makes the certificates while other work goes on. No one else may use the directory. Serve writes the files.
func Certify(dir string, hosts []string, now time.Time) *Certified {
	c := &Certified{ready: make(chan struct{})}
	go func() {
		defer close(c.ready)
		c.ca, c.leaf, c.err = certify(dir, hosts, now)
	}()
	return c
}

// made waits until it is made.
func (c *Certified) made() error {
	<-c.ready
	return c.err
}

// kept waits until it is made, and writes a new authority to its directory.
func (c *Certified) kept(write writer) error {
	if err := c.made(); err != nil || c.ca.keep == nil {
		return err
	}
	return c.ca.keep(write)
}

func certify(dir string, hosts []string, now time.Time) (*authority, tls.Certificate, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, tls.Certificate{}, err
	}
	if err := checkDir(dir); err != nil {
		return nil, tls.Certificate{}, err
	}
	ca, err := openAuthority(dir, now)
	if err != nil {
		return nil, tls.Certificate{}, err
	}
	leaf, err := ca.certificate(serverNames(hosts), x509.ExtKeyUsageServerAuth, now)
	return ca, leaf, err
}

func readAuthority(dir string) (*authority, error) {
	a := &authority{file: filepath.Join(dir, caFile)}
	keyPath := filepath.Join(dir, caKeyFile)
	keyDER, err := readPEM(keyPath, "EC PRIVATE KEY")
	if err != nil {
		return nil, err
	}
	certDER, err := readPEM(a.file, "CERTIFICATE")
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(keyPath); err != nil || info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s must be readable by its owner only (mode 0600)", keyPath)
	}
	if a.key, err = x509.ParseECPrivateKey(keyDER); err != nil {
		return nil, fmt.Errorf("%s holds no usable key", keyPath) // the cause could quote key material
	}
	if a.cert, err = x509.ParseCertificate(certDER); err != nil {
		return nil, fmt.Errorf("%s: %w", a.file, err)
	}
	if !a.key.PublicKey.Equal(a.cert.PublicKey) {
		return nil, fmt.Errorf("%s and %s do not belong together", a.file, keyPath)
	}
	return a, nil
}

func readPEM(path, kind string) ([]byte, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, rest := pem.Decode(raw)
	if block == nil || block.Type != kind || len(bytes.TrimSpace(rest)) > 0 {
		return nil, fmt.Errorf("%s holds no %s", path, kind)
	}
	return block.Bytes, nil
}

func makeAuthority(dir string, now time.Time) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the certificate authority: %w", err)
	}
	serial, err := serialNumber()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "Coffer local authority " + serial.Text(16)[:8]},
		NotBefore: now.Add(-backdate), NotAfter: now.Add(caLife),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make the certificate authority: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("make the certificate authority: %w", err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("make the certificate authority: %w", err)
	}
	a := &authority{cert: cert, key: key, file: filepath.Join(dir, caFile)}
	a.keep = func(write writer) error {
		if err := write.pem(filepath.Join(dir, caKeyFile), "EC PRIVATE KEY", keyDER); err != nil {
			return err
		}
		return write.pem(a.file, "CERTIFICATE", der)
	}
	return a, nil
}

func (w writer) pem(path, kind string, der []byte) error {
	return w.file(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// certificate makes one of this run, for a server or for one process to show to another. Its key never leaves memory.
func (a *authority) certificate(hosts []string, use x509.ExtKeyUsage, now time.Time) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a certificate: %w", err)
	}
	serial, err := serialNumber()
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "Coffer service"},
		NotBefore: now.Add(-backdate), NotAfter: now.Add(leafLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{use},
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der, a.cert.Raw}, PrivateKey: key}, nil
}

// serverNames are the names under which the service can be reached, without repetition: this machine's own and the
// given ones.
func serverNames(extra []string) []string {
	names := []string{"127.0.0.1", "::1", "localhost"}
	if h, err := os.Hostname(); err == nil && h != "" {
		names = append(names, h)
	}
	for _, n := range extra {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

func serialNumber() (*big.Int, error) {
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 126))
	if err != nil {
		return nil, fmt.Errorf("draw a serial number: %w", err)
	}
	return n.SetBit(n, 126, 1), nil // never short, never zero
}

// unfinished begins the name of a file that is being written.
const unfinished = ".new-"

// writer replaces a file in one step: a reader sees the old content or the new, never a part. Mode 0600.
type writer func(path, pattern string, content []byte) error

func (w writer) file(path string, content []byte) error {
	if err := w(path, unfinished+"*", content); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func writeFile(path string, content []byte) error { return writer(files.Replace).file(path, content) }

// writer waits for the disk unless the directory goes with the process.
func (o Options) writer() writer {
	if o.Passing {
		return files.Pass
	}
	return files.Replace
}
