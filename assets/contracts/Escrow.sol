// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Signatures} from "./Signatures.sol";
import {Terms, hashTerms} from "./Terms.sol";

/// Holds what pays for a quote until its fill is attested or the deposit is refunded.
///
/// A deposit is keyed by (quote id, depositor) and a key is used once, for ever. It names the terms of its fill. It ends
/// once, in one of two ways:
///  - release: to the filler, the only payee there is, once `threshold` of the attesters signed that the terms were met;
///  - refund: to the depositor, by the filler at any time, by anyone after refundDeadline.
/// No caller chooses where money goes. There is no owner, no upgrade and no other way out.
contract Escrow {
    using SafeERC20 for IERC20;

    error InvalidFiller();
    error InvalidAttesters();
    error InvalidThreshold(uint256 threshold);
    error InvalidAmount(uint256 amount, uint256 value);
    error InvalidDeadlines(uint64 fillDeadline, uint64 refundDeadline);
    error EmptyTerms();
    error AlreadyDeposited(bytes32 quoteId, address depositor);
    error NotHeld(bytes32 quoteId, address depositor);
    error NotYetRefundable(uint64 refundDeadline);
    error WrongSignatureCount(uint256 count, uint256 threshold);
    error NotAttested(uint256 index, address signer);
    error TransferFailed();
    error Reentered();

    event Deposited(
        bytes32 indexed quoteId,
        address indexed depositor,
        address indexed token,
        uint256 amount,
        uint64 refundDeadline,
        bytes32 terms
    );
    event Released(bytes32 indexed quoteId, address indexed depositor, address token, uint256 amount);
    event Refunded(bytes32 indexed quoteId, address indexed depositor, address token, uint256 amount);

    enum State {
        None,
        Held,
        Released,
        Refunded
    }

    struct Deposit {
        address token; // zero = the native coin
        uint64 refundDeadline; // Unix seconds
        State state;
        uint256 amount; // base units
        bytes32 terms; // hashTerms
    }

    /// How long a deposit can be held against its depositor's will, in seconds.
    uint256 public constant MAX_HOLD = 24 hours;

    bytes32 private constant DOMAIN_TYPE =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract,bytes32 salt)");
    bytes32 private constant FILL_TYPE = keccak256("Fill(bytes32 quoteId,address depositor,bytes32 terms)");

    mapping(bytes32 quoteId => mapping(address depositor => Deposit)) public deposits; // slot 0
    mapping(address signer => bool) public isAttester; // slot 1
    address[] private _attesters; // slot 2
    address public immutable filler;
    uint256 public immutable threshold;
    // Tells networks apart that share chain ids and addresses: a lab's attestation is worth nothing elsewhere.
    bytes32 public immutable networkSalt;
    bool private transient entered;

    /// @param attesters_ strictly ascending, so that none counts twice
    /// @param threshold_ how many of them must sign a release
    constructor(address filler_, address[] memory attesters_, uint256 threshold_, bytes32 networkSalt_) {
        if (filler_ == address(0)) revert InvalidFiller();
        if (threshold_ == 0 || threshold_ > attesters_.length) revert InvalidThreshold(threshold_);
        address last;
        for (uint256 i; i < attesters_.length; ++i) {
            if (attesters_[i] <= last) revert InvalidAttesters();
            last = attesters_[i];
            isAttester[last] = true;
        }
        _attesters = attesters_;
        filler = filler_;
        threshold = threshold_;
        networkSalt = networkSalt_;
    }

    modifier nonReentrant() {
        if (entered) revert Reentered();
        entered = true;
        _;
        entered = false;
    }

    /// @param token zero for the native coin, which must then be sent along, exactly amount
    /// @param refundDeadline Unix seconds, after terms.fillDeadline and at most MAX_HOLD from now; from the second after it
    ///        anyone may refund
    /// @param terms at least one minimum or one operation; its fillDeadline is not over
    function deposit(bytes32 quoteId, address token, uint256 amount, uint64 refundDeadline, Terms calldata terms)
        external
        payable
        nonReentrant
    {
        if (amount == 0 || msg.value != (token == address(0) ? amount : 0)) revert InvalidAmount(amount, msg.value);
        if (terms.minimums.length == 0 && terms.operations.length == 0) revert EmptyTerms();
        uint64 fillDeadline = terms.fillDeadline;
        if (
            fillDeadline < block.timestamp || refundDeadline <= fillDeadline
                || refundDeadline > block.timestamp + MAX_HOLD
        ) revert InvalidDeadlines(fillDeadline, refundDeadline);
        Deposit storage d = deposits[quoteId][msg.sender];
        if (d.state != State.None) revert AlreadyDeposited(quoteId, msg.sender);
        bytes32 termsHash = hashTerms(filler, quoteId, msg.sender, terms);
        d.token = token;
        d.refundDeadline = refundDeadline;
        d.state = State.Held;
        d.amount = amount;
        d.terms = termsHash;
        emit Deposited(quoteId, msg.sender, token, amount, refundDeadline, termsHash);
        if (token != address(0)) _pull(IERC20(token), amount);
    }

    /// Anyone may send it, before the refund deadline or after it.
    /// @param signatures exactly `threshold`, of different attesters in ascending order of their addresses, each over
    ///        attestation(quoteId, depositor, the deposit's terms)
    function release(bytes32 quoteId, address depositor, bytes[] calldata signatures) external nonReentrant {
        Deposit storage d = _held(quoteId, depositor);
        if (signatures.length != threshold) revert WrongSignatureCount(signatures.length, threshold);
        bytes32 digest = attestation(quoteId, depositor, d.terms);
        address last;
        for (uint256 i; i < signatures.length; ++i) {
            // A malformed signature recovers to zero, which is not above any address.
            address signer = Signatures.recover(digest, signatures[i]);
            if (signer <= last || !isAttester[signer]) revert NotAttested(i, signer);
            last = signer;
        }
        (address token, uint256 amount) = (d.token, d.amount);
        d.state = State.Released;
        emit Released(quoteId, depositor, token, amount);
        _pay(token, filler, amount);
    }

    /// The filler at any time, anyone after the deadline.
    function refund(bytes32 quoteId, address depositor) external nonReentrant {
        Deposit storage d = _held(quoteId, depositor);
        if (msg.sender != filler && block.timestamp <= d.refundDeadline) revert NotYetRefundable(d.refundDeadline);
        (address token, uint256 amount) = (d.token, d.amount);
        d.state = State.Refunded;
        emit Refunded(quoteId, depositor, token, amount);
        _pay(token, depositor, amount);
    }

    /// What an attester signs: EIP-712 Fill in this escrow's domain. The chain id is read each time, so that a chain that
    /// splits does not share attestations with its other half.
    function attestation(bytes32 quoteId, address depositor, bytes32 terms) public view returns (bytes32) {
        bytes32 domain = keccak256(
            abi.encode(
                DOMAIN_TYPE, keccak256("Coffer Escrow"), keccak256("2"), block.chainid, address(this), networkSalt
            )
        );
        return Signatures.typed(domain, keccak256(abi.encode(FILL_TYPE, quoteId, depositor, terms)));
    }

    /// In ascending order.
    function attesters() external view returns (address[] memory) {
        return _attesters;
    }

    function _held(bytes32 quoteId, address depositor) private view returns (Deposit storage d) {
        d = deposits[quoteId][depositor];
        if (d.state != State.Held) revert NotHeld(quoteId, depositor);
    }

    /// A token that delivers less than it was asked to would be paid out of the deposits of others.
    function _pull(IERC20 token, uint256 amount) private {
        uint256 before = token.balanceOf(address(this));
        token.safeTransferFrom(msg.sender, address(this), amount);
        if (token.balanceOf(address(this)) - before != amount) revert TransferFailed();
    }

    function _pay(address token, address to, uint256 amount) private {
        if (token != address(0)) {
            IERC20(token).safeTransfer(to, amount);
            return;
        }
        (bool ok,) = to.call{value: amount}("");
        if (!ok) revert TransferFailed();
    }
}
