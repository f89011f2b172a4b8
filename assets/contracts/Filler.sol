// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Minimum, Terms, hashTerms} from "./Terms.sol";
import {PackedUserOperation} from "./Types.sol";

/// What the filler needs of the ERC-4337 v0.7 entry point.
interface IEntryPoint {
    error DelegateAndRevert(bool success, bytes returned);

    function handleOps(PackedUserOperation[] calldata ops, address payable beneficiary) external;
    function getUserOpHash(PackedUserOperation calldata op) external view returns (bytes32);
    function delegateAndRevert(address target, bytes calldata data) external;
}

interface IRefundable {
    function refund(bytes32 quoteId, address depositor) external;
}

/// The solver's inventory, the paymaster of the operations it submits, and the fill, in one contract.
///
/// fill pays what a quote promised and runs the user's operation in one transaction, and reverts as a whole unless every
/// call succeeded. The entry point does not revert when an operation's calls fail, and a contract cannot read logs, but
/// the entry point tells the paymaster in postOp: that is why paymaster and fill are one contract.
///
///  - once: a quote id is used once, for ever, by a fill, a run or a void;
///  - in time: not after the deadline of the terms, which lies before the deposits' refund deadline;
///  - bound: an operation that names this paymaster is valid only inside fill or run, so that nobody who sees it burns its
///    nonce, and what is delivered is measured at the recipient;
///  - capped: hot keys only fill, run, void and refund, and what a fill pays leaves through a bucket per token. The owner, a
///    cold key, sets keys and caps, pauses and withdraws.
contract Filler {
    using SafeERC20 for IERC20;

    error NotOwner();
    error NotHot();
    error NotEntryPoint();
    error InvalidOwner();
    error IsPaused();
    error Reentered();
    error WrongChain(uint256 targetChain);
    error TooLate(uint64 deadline);
    error AlreadyUsed(bytes32 id);
    error WrongPayCount(uint256 pays, uint256 minimums);
    error MinimumsNotAscending(uint256 index);
    error WrongPay(uint256 index);
    error Underpaid(uint256 index, uint256 arrived);
    error WrongOperationCount(uint256 operations, uint256 inTerms);
    error WrongOperation(uint256 index, bytes32 opHash);
    error OperationFailed(uint256 index, bytes reason);
    error OverCap(address token, uint256 available);
    error CapTooLarge();
    error TransferFailed();
    error NotExpected(bytes32 opHash);
    error InvalidPaymasterData();
    error HasFees();

    /// What a fill paid. A token logs its own transfers; of the native coin nothing else says it.
    event Paid(bytes32 indexed quoteId, address indexed token, address indexed to, uint256 amount);
    event Filled(bytes32 indexed quoteId, bytes32 terms);
    event Voided(bytes32 indexed quoteId);
    event HotSet(address indexed key, bool hot);
    event CapSet(address indexed token, uint256 capacity, uint256 refillPerSecond);
    event PausedSet(bool paused);
    event Withdrawn(address indexed token, address indexed to, uint256 amount);
    event OwnershipOffered(address indexed owner, address indexed pendingOwner);
    event OwnershipTaken(address indexed previousOwner, address indexed owner);

    struct Pay {
        address token; // zero = the native coin
        address to;
        uint256 amount; // base units
    }

    /// A leaky bucket: payments fill it, time empties it, and it never holds more than its capacity.
    struct Cap {
        uint128 capacity; // base units; 0 = nothing may leave
        uint128 refillPerSecond; // base units that become available again
        uint128 spent; // base units in the bucket at `since`
        uint64 since; // Unix seconds
    }

    uint256 private constant POST_OP_GAS_AT = 36;
    uint256 private constant DATA_AT = 52;
    uint256 private constant WINDOW_END = DATA_AT + 12;
    uint256 private constant DATA_END = WINDOW_END + 65;
    uint256 private constant POST_OP_GAS = 50_000;
    uint256 private constant MAX_REASON = 1024; // bytes of a failed operation's reason

    // Marks of an operation hash, in transient storage at the hash itself, where no variable lies. fill and run take back
    // every mark they set, so a second call in one transaction finds none.
    uint256 private constant EXPECTED = 1;
    uint256 private constant SUCCEEDED = 2;

    // Genesis writes owner, hot keys and caps at these slots.
    address public owner; // slot 0
    address public pendingOwner; // slot 1
    bool public paused; // slot 1, behind pendingOwner
    mapping(address key => bool) public hot; // slot 2
    mapping(bytes32 id => bool) public used; // slot 3
    mapping(address token => Cap) public caps; // slot 4
    IEntryPoint public immutable entryPoint;
    bool private transient entered;

    constructor(IEntryPoint entryPoint_, address owner_) {
        if (owner_ == address(0)) revert InvalidOwner();
        entryPoint = entryPoint_;
        owner = owner_;
    }

    /// Inventory in the native coin: deposits that are released, and what the owner adds.
    receive() external payable {}

    modifier onlyOwner() {
        if (msg.sender != owner) revert NotOwner();
        _;
    }

    modifier onlyHot() {
        if (!hot[msg.sender]) revert NotHot();
        _;
    }

    modifier nonReentrant() {
        if (entered) revert Reentered();
        entered = true;
        _;
        entered = false;
    }

    // ---- hot keys ----

    /// Pays the minimums, then runs the operations of the terms and at most one more, a deposit that pays for them.
    /// @param depositor whose deposits this fill releases, and no one else's
    /// @param pays one for each minimum, with its token and recipient and at least its amount
    function fill(
        bytes32 quoteId,
        address depositor,
        Terms calldata terms,
        Pay[] calldata pays,
        PackedUserOperation[] calldata ops
    ) external onlyHot nonReentrant {
        if (terms.targetChain != block.chainid) revert WrongChain(terms.targetChain);
        _begin(quoteId, terms.fillDeadline);
        uint256 named = terms.operations.length;
        if (ops.length < named || ops.length > named + 1) revert WrongOperationCount(ops.length, named);
        bytes32[] memory hashes = _hash(ops);
        for (uint256 i; i < named; ++i) {
            if (hashes[i] != terms.operations[i]) revert WrongOperation(i, hashes[i]);
        }
        _deliver(quoteId, terms.minimums, pays);
        // Only now: while a recipient is paid, no operation is valid.
        if (ops.length != 0) _handle(ops, hashes);
        emit Filled(quoteId, hashTerms(address(this), quoteId, depositor, terms));
    }

    /// Runs operations that need no payment: deposits into escrow, and calls on one chain. Its id is the first one's hash.
    function run(uint64 deadline, PackedUserOperation[] calldata ops) external onlyHot nonReentrant {
        if (ops.length == 0) revert WrongOperationCount(0, 0);
        bytes32[] memory hashes = _hash(ops);
        _begin(hashes[0], deadline);
        _handle(ops, hashes);
    }

    /// Uses an id up without a fill, so that its deposits can be given back.
    function void(bytes32 quoteId) external onlyHot nonReentrant {
        _use(quoteId);
        emit Voided(quoteId);
    }

    /// Gives a deposit back to its depositor, as the payee of the escrow.
    function refund(IRefundable escrow, bytes32 quoteId, address depositor) external onlyHot nonReentrant {
        escrow.refund(quoteId, depositor);
    }

    // ---- owner ----

    function setHot(address key, bool hot_) external onlyOwner {
        hot[key] = hot_;
        emit HotSet(key, hot_);
    }

    /// What was spent stays spent and has leaked at the old rate until now.
    /// @param capacity base units of the token, zero address = the native coin, that can leave at once; below 2^128
    /// @param refillPerSecond base units that become available again each second; below 2^128
    function setCap(address token, uint256 capacity, uint256 refillPerSecond) external onlyOwner {
        if (capacity > type(uint128).max || refillPerSecond > type(uint128).max) revert CapTooLarge();
        Cap storage c = caps[token];
        (c.spent, c.since) = (_spent(c), uint64(block.timestamp));
        (c.capacity, c.refillPerSecond) = (uint128(capacity), uint128(refillPerSecond));
        emit CapSet(token, capacity, refillPerSecond);
    }

    /// While paused nothing is paid and nothing runs; ids can be voided and deposits given back.
    function setPaused(bool paused_) external onlyOwner {
        paused = paused_;
        emit PausedSet(paused_);
    }

    function withdraw(address token, address to, uint256 amount) external onlyOwner nonReentrant {
        emit Withdrawn(token, to, amount);
        _send(token, to, amount);
    }

    /// The new owner takes over with acceptOwnership; until then the old one can offer it to another.
    function transferOwnership(address to) external onlyOwner {
        pendingOwner = to;
        emit OwnershipOffered(owner, to);
    }

    function acceptOwnership() external {
        if (msg.sender != pendingOwner) revert NotOwner();
        emit OwnershipTaken(owner, msg.sender);
        (owner, pendingOwner) = (msg.sender, address(0));
    }

    // ---- paymaster ----

    /// paymasterAndData = this(20) || gas limits(32) || validUntil(6) || validAfter(6) || signature(65).
    ///
    /// The signature is the service's promise to the wallet (over EIP-191 of getHash) and is not checked here: the mark
    /// says more. A hot key set it in this very transaction, for this very operation, data and signature included, and
    /// nothing else makes an operation valid. So a leaked signature is worth nothing on the chain.
    function validatePaymasterUserOp(PackedUserOperation calldata op, bytes32 opHash, uint256)
        external
        view
        returns (bytes memory context, uint256 validationData)
    {
        if (msg.sender != address(entryPoint)) revert NotEntryPoint();
        if (_mark(opHash) != EXPECTED) revert NotExpected(opHash);
        // The filler has no deposit in the entry point; one that a stranger made is not for spending.
        if (op.gasFees != 0) revert HasFees();
        bytes calldata data = op.paymasterAndData;
        // With less gas postOp could fail, and with it the fill; with more, nothing is won.
        if (data.length != DATA_END || uint128(bytes16(data[POST_OP_GAS_AT:DATA_AT])) != POST_OP_GAS) {
            revert InvalidPaymasterData();
        }
        uint48 validUntil = uint48(bytes6(data[DATA_AT:DATA_AT + 6]));
        uint48 validAfter = uint48(bytes6(data[DATA_AT + 6:WINDOW_END]));
        return (abi.encode(opHash), uint256(validUntil) << 160 | uint256(validAfter) << 208);
    }

    /// The entry point tells here whether an operation's calls succeeded: mode 0; 1 = they reverted. The context is the
    /// operation's hash, which no one but this contract can have put there.
    function postOp(uint8 mode, bytes calldata context, uint256, uint256) external {
        if (msg.sender != address(entryPoint)) revert NotEntryPoint();
        if (mode == 0) _setMark(bytes32(context), SUCCEEDED);
    }

    /// What the service signs: everything of the operation but its own signature and the user's.
    function getHash(PackedUserOperation calldata op, uint48 validUntil, uint48 validAfter)
        external
        view
        returns (bytes32)
    {
        return keccak256(
            abi.encode(
                op.sender,
                op.nonce,
                keccak256(op.initCode),
                keccak256(op.callData),
                op.accountGasLimits,
                uint256(bytes32(op.paymasterAndData[20:DATA_AT])),
                op.preVerificationGas,
                op.gasFees,
                block.chainid,
                address(this),
                validUntil,
                validAfter
            )
        );
    }

    // ---- views ----

    /// Base units of a token that hot keys can pay out now.
    function available(address token) public view returns (uint256) {
        Cap storage c = caps[token];
        (uint256 capacity, uint256 spent) = (c.capacity, _spent(c));
        return spent < capacity ? capacity - spent : 0;
    }

    /// Calls an account in the entry point's name. It works only where the entry point runs this code as its own, that is
    /// inside delegateAndRevert, which undoes everything; called as it is, it does nothing.
    /// @return reason what the account's code reverted with, cut at MAX_REASON; empty when it did not
    function tryAgain(address account, bytes calldata callData, uint256 gasLimit) external returns (bytes memory reason) {
        if (address(this) != address(entryPoint)) revert NotEntryPoint();
        bytes memory data = callData;
        bool ok;
        assembly ("memory-safe") {
            ok := call(gasLimit, account, 0, add(data, 32), mload(data), 0, 0)
        }
        if (ok) return reason;
        uint256 size;
        assembly ("memory-safe") {
            size := returndatasize()
        }
        reason = new bytes(size < MAX_REASON ? size : MAX_REASON);
        assembly ("memory-safe") {
            returndatacopy(add(reason, 32), 0, mload(reason))
        }
    }

    // ---- internals ----

    function _begin(bytes32 id, uint64 deadline) private {
        if (paused) revert IsPaused();
        if (block.timestamp > deadline) revert TooLate(deadline);
        _use(id);
    }

    function _use(bytes32 id) private {
        if (used[id]) revert AlreadyUsed(id);
        used[id] = true;
    }

    function _hash(PackedUserOperation[] calldata ops) private view returns (bytes32[] memory hashes) {
        hashes = new bytes32[](ops.length);
        for (uint256 i; i < ops.length; ++i) {
            hashes[i] = entryPoint.getUserOpHash(ops[i]);
        }
    }

    /// Pays each minimum, and measures: a token that keeps a part, or lies, is not a fill.
    function _deliver(bytes32 quoteId, Minimum[] calldata minimums, Pay[] calldata pays) private {
        if (pays.length != minimums.length) revert WrongPayCount(pays.length, minimums.length);
        for (uint256 i; i < pays.length; ++i) {
            Minimum calldata m = minimums[i];
            // Ascending, so that none is there twice and one payment never counts for two.
            if (i != 0 && !_ascends(minimums[i - 1], m)) revert MinimumsNotAscending(i);
            Pay calldata p = pays[i];
            if (m.token != _word(p.token) || m.to != _word(p.to) || p.amount < m.amount) revert WrongPay(i);
            _spend(p.token, p.amount);
            uint256 before = _balance(p.token, p.to);
            _send(p.token, p.to, p.amount);
            uint256 now_ = _balance(p.token, p.to);
            uint256 arrived = now_ > before ? now_ - before : 0;
            if (arrived < m.amount) revert Underpaid(i, arrived);
            emit Paid(quoteId, p.token, p.to, p.amount);
        }
    }

    /// Runs the operations, and reverts unless the calls of each succeeded.
    function _handle(PackedUserOperation[] calldata ops, bytes32[] memory hashes) private {
        for (uint256 i; i < hashes.length; ++i) {
            _setMark(hashes[i], EXPECTED);
        }
        entryPoint.handleOps(ops, payable(msg.sender));
        for (uint256 i; i < hashes.length; ++i) {
            if (_mark(hashes[i]) != SUCCEEDED) revert OperationFailed(i, _reason(ops[i]));
            _setMark(hashes[i], 0);
        }
    }

    /// Why an operation's calls failed. The entry point logs the reason and tells the paymaster nothing, and the revert
    /// that follows undoes the log. So the calls are tried again, in the entry point's name, where nothing they do can
    /// last, in the state that the other operations left behind.
    /// @return empty when they gave none, succeed this time, or too little gas is left
    function _reason(PackedUserOperation calldata op) private returns (bytes memory) {
        uint256 gasLimit = uint128(uint256(op.accountGasLimits));
        bytes memory again = abi.encodeCall(this.tryAgain, (op.sender, op.callData, gasLimit));
        try entryPoint.delegateAndRevert(address(this), again) {}
        catch (bytes memory answer) {
            // DelegateAndRevert(true, abi.encode(reason)) behind its selector; anything else is no answer of tryAgain.
            if (answer.length >= 4 + 5 * 32 && bytes4(answer) == IEntryPoint.DelegateAndRevert.selector) {
                bytes memory arguments = new bytes(answer.length - 4);
                assembly ("memory-safe") {
                    mcopy(add(arguments, 32), add(answer, 36), mload(arguments))
                }
                (bool success, bytes memory returned) = abi.decode(arguments, (bool, bytes));
                if (success) return abi.decode(returned, (bytes));
            }
        }
        return "";
    }

    function _spend(address token, uint256 amount) private {
        uint256 left = available(token);
        Cap storage c = caps[token];
        if (amount > left || c.capacity == 0) revert OverCap(token, left);
        // At most the capacity, which has 128 bits.
        (c.spent, c.since) = (_spent(c) + uint128(amount), uint64(block.timestamp));
    }

    function _spent(Cap storage c) private view returns (uint128) {
        uint256 leaked = (block.timestamp - c.since) * c.refillPerSecond;
        return leaked < c.spent ? c.spent - uint128(leaked) : 0;
    }

    function _send(address token, address to, uint256 amount) private {
        if (token != address(0)) {
            IERC20(token).safeTransfer(to, amount);
            return;
        }
        (bool ok,) = to.call{value: amount}("");
        if (!ok) revert TransferFailed();
    }

    function _balance(address token, address of_) private view returns (uint256) {
        return token == address(0) ? of_.balance : IERC20(token).balanceOf(of_);
    }

    function _ascends(Minimum calldata a, Minimum calldata b) private pure returns (bool) {
        return a.token < b.token || a.token == b.token && a.to < b.to;
    }

    function _word(address a) private pure returns (bytes32) {
        return bytes32(uint256(uint160(a)));
    }

    function _mark(bytes32 opHash) private view returns (uint256 mark) {
        assembly ("memory-safe") {
            mark := tload(opHash)
        }
    }

    function _setMark(bytes32 opHash, uint256 mark) private {
        assembly ("memory-safe") {
            tstore(opHash, mark)
        }
    }
}
