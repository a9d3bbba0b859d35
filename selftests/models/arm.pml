/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arming of an event queue or a completion queue under total store order: software takes entries and goes to sleep, a device
 * writes entries and raises interrupts.  Each has a store buffer.  Verified: when nothing can move any more, software has taken
 * all entries.  And no interrupt is raised that was not asked for.
 *
 * -DNO_SOFTWARE_FENCE, -DNO_DEVICE_FENCE, -DNO_SECOND_POLL: break one rule; the model must then fail
 */

#define ENTRIES 3
#define SOFTWARE 0
#define DEVICE 1

mtype = { entry, arm_counter };

byte written;	/* entries of the ring that are valid */
byte arm;	/* counter in the record */
byte taken;	/* by software */
byte asked;	/* interrupts that software asked for */
byte raised;

/* Stores on their way to memory, oldest first. */
chan buffer[2] = [4] of { mtype, byte };
chan interrupt = [ENTRIES] of { bit };

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
		:: what == entry -> written = value
		:: what == arm_counter -> arm = value
		fi
		what = entry;
		value = 0
	}
	od
}

inline poll()
{
	valid = written;
	taken = valid
}

proctype software()
{
	byte valid;
	byte before;

	do
	:: poll();
		asked++;
		buffer[SOFTWARE]!arm_counter, asked;
#ifndef NO_SOFTWARE_FENCE
		fence(SOFTWARE);
#endif
		before = taken;
#ifndef NO_SECOND_POLL
		poll();
#endif
		if
		:: taken == before ->
end:			interrupt?_
		:: else
		fi;
		if
		:: taken == ENTRIES -> break
		:: else
		fi
	od
}

proctype device()
{
	byte round;
	byte counter;
	byte last;

	do
	:: round < ENTRIES ->
		round++;
		buffer[DEVICE]!entry, round;
#ifndef NO_DEVICE_FENCE
		fence(DEVICE);
#endif
		counter = arm;
		if
		:: counter != last ->
			last = counter;
			raised++;
			assert(raised <= asked);
			interrupt!1
		:: else
		fi
	:: else -> break
	od
}

init {
	atomic {
		run store_buffer(SOFTWARE);
		run store_buffer(DEVICE);
		run software();
		run device()
	}
	timeout -> assert(taken == ENTRIES)
}
