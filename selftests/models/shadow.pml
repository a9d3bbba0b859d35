/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The shadow doorbell protocol of struct ohca_shadow under total store order: two producers and a device, each with a store
 * buffer.  Verified: when nothing can move any more, the device has seen every producer index.
 *
 * -DINDIRECT: the dirty bit is one of the indirect words, announced by the summary
 * -DNO_PRODUCER_FENCE, -DNO_DEVICE_FENCE, -DNO_RECHECK, -DSUMMARY_FIRST: break one rule; the model must then fail
 */

#define ROUNDS 2
#define PRODUCERS 2
#define DEVICE PRODUCERS

mtype = { pi_0, pi_1, dirty_bit, asleep_flag };

byte pi[PRODUCERS];
byte seen[PRODUCERS];
bit dirty, summary, asleep;

/* Stores on their way to memory, oldest first. */
chan buffer[PRODUCERS + 1] = [4] of { mtype, byte };
chan doorbell = [PRODUCERS] of { bit };

#define fence(who) empty(buffer[who])

proctype store_buffer(byte who)
{
	mtype what;
	byte value;

end:
	do
	:: d_step {
		buffer[who]?what, value;
		if
		:: what == pi_0 -> pi[0] = value
		:: what == pi_1 -> pi[1] = value
		:: what == dirty_bit -> dirty = 1; summary = 1
		:: what == asleep_flag -> asleep = value
		fi
		what = pi_0;
		value = 0
	}
	od
}

inline set_dirty(who)
{
#ifdef NO_PRODUCER_FENCE
	buffer[who]!dirty_bit, 1;
#else
	/* atomic operations: they drain the buffer first */
#ifdef SUMMARY_FIRST
	atomic { fence(who); summary = 1 };
	atomic { fence(who); dirty = 1 };
#else
	atomic { fence(who); dirty = 1 };
#ifdef INDIRECT
	atomic { fence(who); summary = 1 };
#endif
#endif
#endif
}

proctype producer(byte who; mtype record)
{
	byte round;
	bit sleeps;

	do
	:: round < ROUNDS ->
		round++;
		buffer[who]!record, round;
		set_dirty(who);
		sleeps = asleep;
		if
		:: sleeps -> doorbell!1
		:: else
		fi
	:: else -> break
	od
}

inline take_dirty()
{
#ifdef INDIRECT
	atomic { fence(DEVICE); work = summary; summary = 0 };
	if
	:: work -> atomic { work = dirty; dirty = 0 }
	:: else
	fi
#else
	atomic { fence(DEVICE); work = dirty; dirty = 0 }
#endif
}

inline look_again()
{
#ifdef NO_RECHECK
	work = 0
#else
#ifdef INDIRECT
	work = summary
#else
	work = dirty
#endif
#endif
}

proctype device()
{
	bit work;

	do
	:: take_dirty();
		if
		:: work ->
			seen[0] = pi[0];
			seen[1] = pi[1]
		:: else ->
			buffer[DEVICE]!asleep_flag, 1;
#ifndef NO_DEVICE_FENCE
			fence(DEVICE);
#endif
			look_again();
			if
			:: !work ->
end:				doorbell?_
			:: else
			fi
			buffer[DEVICE]!asleep_flag, 0
		fi
	od
}

init {
	atomic {
		run store_buffer(0);
		run store_buffer(1);
		run store_buffer(DEVICE);
		run producer(0, pi_0);
		run producer(1, pi_1);
		run device()
	}
	timeout -> assert(seen[0] == ROUNDS && seen[1] == ROUNDS)
}
